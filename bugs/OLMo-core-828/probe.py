"""The gradient of one batch, with checkpointing and without it, from the same weights and the same random numbers."""

import torch
from torch import nn


def start():
    pass


def gradient(names):
    model = names["model"]
    torch.manual_seed(1)
    loss = names["loss_of"](model, names["held_out"][: names["config"]["batch_size"]])
    parts = torch.autograd.grad(loss, list(model.parameters()))
    return loss.item(), torch.cat([part.flatten() for part in parts])


def look(names):
    model = names["model"]
    devices = [0] if names["device"] == "cuda" else []
    with torch.random.fork_rng(devices):
        loss, checkpointed = gradient(names)
        wrapped = model.blocks
        model.blocks = nn.ModuleList(block._checkpoint_wrapped_module for block in wrapped)
        plain_loss, plain = gradient(names)
        model.blocks = wrapped
    return {
        "loss_difference": abs(loss - plain_loss),
        "gradient_difference": ((checkpointed - plain).norm() / plain.norm()).item(),
    }
