"""How many of the known hours have an effect on the forecasts of validation windows: those with a gradient."""

import torch


def start():
    pass


def look(names):
    model = names["model"]
    known = names["validation_loader"].dataset.tensors[0][:32].to(names["device"]).requires_grad_()
    with torch.enable_grad(), torch.random.fork_rng():
        (gradient,) = torch.autograd.grad(model(known).square().sum(), known)
    return {"hours_used": int((gradient != 0).any(0).sum())}
