"""The norm of the last gradient that the optimizer got, and how far the weights are from where they began."""

import torch

initial = []


def start():
    pass


@torch.no_grad()
def look(names):
    parameters = list(names["model"].parameters())
    if "epoch" not in names:
        initial[:] = [parameter.clone() for parameter in parameters]
        return {}
    gradients = torch.cat([parameter.grad.flatten() for parameter in parameters])
    moved = torch.cat([(now - then).flatten() for now, then in zip(parameters, initial, strict=True)])
    return {"gradient_norm": gradients.norm().item(), "moved": moved.norm().item()}
