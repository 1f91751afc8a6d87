"""The share of the newest weights in the next average: how far one more update moves the average towards the model."""

import copy

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    ema, parameters = copy.deepcopy(names["ema"]), list(names["model"].parameters())
    before = [average.clone() for average in ema.averages]
    ema.update(parameters)
    moved = sum((after - average).square().sum() for after, average in zip(ema.averages, before, strict=True))
    distance = sum((parameter - average).square().sum() for parameter, average in zip(parameters, before, strict=True))
    return {"newest_share": (moved / distance).sqrt().item()}
