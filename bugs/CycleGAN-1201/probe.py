"""How steep the discriminator is between real and made beats, and how far the training beats are from held-out ones."""

import torch
from beats import energy_distance


def start():
    pass


def look(names):
    gan, real = names["gan"], names["validation_beats"]
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        fake = gan.draw(len(real), random)
    shares = torch.rand(len(real), 1, generator=random).to(real.device)
    mixed = (shares * real + (1 - shares) * fake).requires_grad_()
    (gradients,) = torch.autograd.grad(gan.discriminator(mixed).sum(), mixed)
    return {
        "gradient_norm": gradients.norm(dim=1).mean().item(),
        "distance_real": energy_distance(names["beats"], real),
    }
