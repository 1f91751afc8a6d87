"""Made electrocardiograms, clean and as they are measured."""

import torch

LENGTH = 256
# The waves of a beat: where they are (in shares of it), how high, and how wide.
WAVES = [(0.20, 0.15, 0.025), (0.36, -0.12, 0.010), (0.40, 1.0, 0.012), (0.44, -0.25, 0.012), (0.65, 0.30, 0.040)]


def load(count, noise, seed):
    """Signals (count, 1, length) as measured, and the clean ones: another heart rate and other heights each."""
    generator = torch.Generator().manual_seed(seed)
    time = torch.arange(LENGTH) / LENGTH
    beats = 2 + 2 * torch.rand(count, 1, generator=generator)
    phase = (time * beats + torch.rand(count, 1, generator=generator)) % 1
    clean = torch.zeros(count, LENGTH)
    for place, height, width in WAVES:
        heights = height * (0.7 + 0.6 * torch.rand(count, 1, generator=generator))
        clean += heights * torch.exp(-((phase - place) ** 2) / (2 * width**2))
    slow = torch.rand(count, 2, generator=generator)
    drift = 0.5 * torch.sin(2 * torch.pi * ((0.5 + slow[:, :1]) * time + slow[:, 1:]))
    measured = clean + drift + noise * torch.randn(count, LENGTH, generator=generator)
    return measured[:, None], clean[:, None]
