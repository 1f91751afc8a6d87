"""How much of the drawn images is black, how much of the validation images, and the loss of all shades of these."""

import torch
from torch.nn.functional import cross_entropy


def start():
    pass


@torch.no_grad()
def look(names):
    images, digits = names["validation"]
    logits = names["model"](digits, images)
    losses = cross_entropy(logits.transpose(1, 2), images, reduction="none")
    return {
        "black_drawn": (names["drawn"] == 0).float().mean().item(),
        "black_real": (images == 0).float().mean().item(),
        "loss_of_all": losses.mean().item(),
        "loss_of_others": losses[images != 0].mean().item(),
    }
