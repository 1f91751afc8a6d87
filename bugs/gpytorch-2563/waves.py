"""A wave that is known by its value and its derivative, as in GPyTorch's example of derivative information."""

import math

import torch


def wave(places):
    """The value and the derivative of sin 2x + cos x."""
    value = (2 * places).sin() + places.cos()
    derivative = 2 * (2 * places).cos() - places.sin()
    return torch.stack([value, derivative], -1)


def load(number, noise, device):
    """Return (places, values and derivatives) from 0 to 5 pi: `number` noisy ones, and 500 that are exact."""
    places = torch.linspace(0, 5 * math.pi, number)
    measured = wave(places)
    measured = measured + noise * torch.randn_like(measured)
    further = torch.linspace(0, 5 * math.pi, 500)
    pairs = (places[:, None], measured), (further[:, None], wave(further))
    return tuple(tuple(part.to(device) for part in pair) for pair in pairs)
