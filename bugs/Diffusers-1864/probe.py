"""The share of the newest parameters in the average, and the loss of the network without averaging."""

import copy

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    network, average, (images, digits) = names["network"], copy.deepcopy(names["average"]), names["validation"]
    before = copy.deepcopy(average.averages)
    average.step([one + 1 for one in before])
    moved = torch.cat([(after - one).flatten() for after, one in zip(average.averages, before, strict=True)])
    network.eval()
    generator = torch.Generator().manual_seed(0)
    repeats = names["config"]["repeats"]
    loss = names["diffusion"].loss(network, images.repeat(repeats, 1), digits.repeat(repeats), generator).item()
    return {"newest_share": moved.mean().item(), "loss_without_averaging": loss}
