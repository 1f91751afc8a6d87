"""How often the batch names user 0, and how often its row shrinks after that: by its length before and afterwards."""

import math

from torch.optim.optimizer import register_optimizer_step_post_hook

before = []


def start():
    register_optimizer_step_post_hook(remember)


def remember(optimizer, args, kwargs):
    """Between the optimizer's step and the decay: the length of the first user's row."""
    users = optimizer.param_groups[0]["params"][0]
    before.append(users[0].norm().item())


def look(names):
    shrunk = names["model"].users.weight[0].norm().item() / before[-1]
    return {
        "ratings_of_user_0": (names["user"][names["batch"]] == 0).sum().item(),
        "decays_of_user_0": round(math.log(shrunk) / math.log(names["factor"])),
    }
