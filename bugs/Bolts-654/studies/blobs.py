"""Blobs: points around random centres, one a class."""

import torch

FEATURES = 10


def load(classes, samples):
    """Return (inputs, labels) to train on and (inputs, labels) to validate, with as many samples."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(classes, FEATURES, generator=generator)
    labels = torch.arange(2 * samples) % classes
    inputs = centres[labels] + torch.randn(2 * samples, FEATURES, generator=generator)
    order = torch.randperm(2 * samples, generator=generator)
    inputs, labels = inputs[order], labels[order]
    return (inputs[:samples], labels[:samples]), (inputs[samples:], labels[samples:])
