"""Waves: points in eight dimensions, and the sine of a random direction with a little noise."""

import torch

FEATURES = 8


def load(samples):
    """Return (inputs, targets) to train on and (inputs, targets) to validate, with as many samples each."""
    generator = torch.Generator().manual_seed(0)
    direction = torch.randn(FEATURES, 1, generator=generator) / 2
    inputs = torch.randn(2 * samples, FEATURES, generator=generator)
    targets = torch.sin(inputs @ direction) + 0.1 * torch.randn(2 * samples, 1, generator=generator)
    return (inputs[:samples], targets[:samples]), (inputs[samples:], targets[samples:])
