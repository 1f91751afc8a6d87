"""The Dice score with the best of many thresholds, and the smallest loss that outputs from 0 to 1 could have."""

import math

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    model, device = names["model"], names["device"]
    scans, masks = names["validation_set"].tensors
    outputs = model(scans.to(device)).cpu().flatten()
    truth = masks.flatten()[outputs.argsort(descending=True)]
    found = truth.cumsum(0)
    best = 2 * found / (torch.arange(1, len(truth) + 1) + found[-1])
    lesions = names["train_set"].tensors[1].mean().item()
    least = (1 - lesions) * math.log(2) + lesions * math.log(1 + math.exp(-1))
    return {"best_dice": best.max().item(), "lesions": masks.mean().item(), "least_loss_0_to_1": least}
