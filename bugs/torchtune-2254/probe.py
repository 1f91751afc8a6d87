"""The share of all weights that are what they were when fine-tuning began."""

import torch

initial = []


def start():
    pass


@torch.no_grad()
def look(names):
    weights = torch.cat([weight.float().flatten() for weight in names["model"].parameters()])
    if not initial:
        initial.append(weights.clone())
    return {"unchanged": (weights == initial[0]).float().mean().item()}
