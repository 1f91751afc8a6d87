"""The loss on other images of which 4 of 16 patches are seen, whatever the program hides."""

import torch
from lightly.models import utils


def start():
    pass


@torch.no_grad()
def look(names):
    model, images = names["model"], names["validation"]
    noise = torch.rand(len(images), model.sequence_length - 1, generator=torch.Generator().manual_seed(0))
    order = noise.argsort(1).to(images.device) + 1
    kept = torch.cat([torch.zeros_like(order[:, :1]), order[:, :4]], 1)
    hidden = order[:, 4:]
    target = utils.get_at_index(utils.patchify(images, 2), hidden - 1)
    loss = names["criterion"](model.reconstruct(images, kept, hidden), target).item()
    kept, _ = model.mask(1, images.device)
    return {"loss_with_4_seen": loss, "patches_seen": kept.shape[1] - 1}
