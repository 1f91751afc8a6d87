"""The share of test readings whose instrument the discriminator knows."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    network, discriminator, device = names["network"], names["discriminator"], names["device"]
    network.eval()
    discriminator.eval()
    new, old = (network(names[part][0].to(device))[1] for part in ("source_test", "target_test"))
    told = ((discriminator(new) > 0).float().mean() + (discriminator(old) < 0).float().mean()) / 2
    return {"told_apart": told.item()}
