"""Made heartbeats as an electrocardiogram shows them, and how far generated ones are from them."""

import torch

POINTS = 48


def bump(times, middle, width, height):
    return height * torch.exp(-(((times - middle) / width) ** 2) / 2)


def make_beats(number, generator):
    """Return beats of shape (number, POINTS); one in four comes early, is wide, and its last wave points down."""
    times = torch.linspace(0, 1, POINTS)
    early = (torch.rand(number, 1, generator=generator) < 0.25).float()
    free = torch.rand(7, number, 1, generator=generator)
    peak = 0.42 + 0.06 * free[0] - 0.12 * early
    beats = bump(times, peak - 0.16 - 0.04 * free[1], 0.03, (0.15 + 0.15 * free[2]) * (1 - early))
    beats += bump(times, peak, 0.018 + 0.03 * early, 1 + 0.3 * free[3])
    beats -= bump(times, peak + 0.05 + 0.05 * early, 0.02 + 0.02 * early, 0.25 + 0.2 * free[4] + 0.3 * early)
    beats += bump(times, peak + 0.28 + 0.04 * free[5], 0.05, (0.25 + 0.2 * free[6]) * (1 - 2 * early))
    return beats + 0.02 * torch.randn(number, POINTS, generator=generator)


def load(number, validation_number, device):
    """Return beats to train on, and beats held out: the same ones every time."""
    generator = torch.Generator().manual_seed(0)
    return make_beats(number, generator).to(device), make_beats(validation_number, generator).to(device)


def energy_distance(ours, theirs):
    """0 if both sets are the same: how much farther beats are from the other set's than from their own set's."""
    between = torch.cdist(ours, theirs).mean()
    return (2 * between - torch.cdist(ours, ours).mean() - torch.cdist(theirs, theirs).mean()).item()
