"""How often the batch names user 0, and how often its row shrinks after that: by its length before and afterwards."""

import math

import torch

before = []
step = torch.optim.Adam.step


def start():
    # No hook of the optimizer: up to 2.2 Dynamo takes these away.
    torch.optim.Adam.step = remembering


def remembering(optimizer, *args, **kwargs):
    """The step, and after it, before the decay, a note of how long the first user's row is."""
    result = step(optimizer, *args, **kwargs)
    users = optimizer.param_groups[0]["params"][0]
    before.append(users[0].norm().item())
    return result


def look(names):
    shrunk = names["model"].users.weight[0].norm().item() / before[-1]
    return {
        "ratings_of_user_0": (names["user"][names["batch"]] == 0).sum().item(),
        "decays_of_user_0": round(math.log(shrunk) / math.log(names["factor"])),
    }
