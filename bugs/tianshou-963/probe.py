"""In how many cells the action of the policy is the best likely one, and in how many it is the first likely one."""

import maze
import torch
from tianshou.data import Batch


def start():
    pass


@torch.no_grad()
def look(names):
    policy = names["policy"]
    policy.eval()
    result = policy(Batch(obs=maze.observe(maze.starts()), info=Batch()))
    logits = result.imitation_logits
    likely = logits - logits.max(-1, keepdim=True).values >= policy._log_tau
    several = likely.sum(-1) > 1
    best = result.q_value.masked_fill(~likely, -torch.inf).argmax(-1)
    first = likely.int().argmax(-1)
    return {
        "cells_with_several": int(several.sum()),
        "best_chosen": int((result.act == best)[several].sum()),
        "first_chosen": int((result.act == first)[several].sum()),
        "value": result.q_value.max(-1).values.mean().item(),
    }
