"""How well two copies of a mask agree that are distorted as a pair: the share of pixels, and of the thin layer."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    operation, masks = names["operation"], names["train_set"].masks
    same, both, either = 0, 0, 0
    for mask in masks:
        one, other = operation.perform_operation([mask, mask])
        same += (one == other).sum().item()
        both += ((one == 2) & (other == 2)).sum().item()
        either += ((one == 2) | (other == 2)).sum().item()
    return {"agreement": same / masks.numel(), "thin_agreement": both / either}
