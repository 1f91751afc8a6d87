"""The norm of the gradients that the optimizer has got."""

import torch


def start():
    pass


def look(names):
    gradients = [parameter.grad.norm() for parameter in names["model"].parameters()]
    return {"gradient_norm": torch.stack(gradients).norm().item()}
