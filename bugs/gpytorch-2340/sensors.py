"""Made readings of sensors: a smooth curve each, read at few times and with noise."""

import torch


def load(count, readings, noise, seed):
    """Times (count, n, 1) and values (count, n) to fit, and the same of 100 further readings of each sensor."""
    generator = torch.Generator().manual_seed(seed)
    height = 0.7 + 0.6 * torch.rand(count, 1, generator=generator)
    phase = torch.rand(count, 1, generator=generator)

    def read(number):
        times = torch.rand(count, number, generator=generator)
        values = height * torch.sin(2 * torch.pi * (times + phase))
        return times[..., None], values + noise * torch.randn(count, number, generator=generator)

    return read(readings), read(100)
