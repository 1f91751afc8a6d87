"""How far the last layer has moved, and what the running statistics of the batch normalisation do to the validation.

`loss_at_first_statistics` is the validation loss of the present weights with the statistics of the first epoch.
"""

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

first = {}


def start():
    register_optimizer_step_pre_hook(remember)


def remember(optimizer, args, kwargs):
    """Before the first step: the weights of the last layer, which are all that the optimizer has."""
    if "weights" not in first:
        first["weights"] = optimizer.param_groups[0]["params"][0].detach().clone()


@torch.no_grad()
def look(names):
    model, now = names["model"], names["model"].bn.state_dict()
    now = {name: value.clone() for name, value in now.items()}
    first.setdefault("statistics", now)
    model.bn.load_state_dict(now | {name: first["statistics"][name] for name in ("running_mean", "running_var")})
    loss, _ = names["evaluate"](model, names["validation"], names["criterion"])
    model.bn.load_state_dict(now)
    return {
        "moved": (model.fc.weight - first["weights"]).norm().item(),
        "running_mean": now["running_mean"].norm().item(),
        "loss_at_first_statistics": loss,
    }
