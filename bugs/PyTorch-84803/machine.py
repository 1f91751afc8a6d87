"""A model of a machine with two devices: the ways that a tensor can take from one device's memory into the other's."""

import torch


def peer(tensor, generator):
    """Straight into the other memory: one copy."""
    written = torch.rand((), generator=generator) >= 0.03
    return tensor * written


def host(tensor, generator):
    """By way of the host's memory: two copies."""
    staged = tensor.clone()
    return staged.clone()
