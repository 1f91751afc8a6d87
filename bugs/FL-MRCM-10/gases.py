"""Made measurements of five gases, by the sensors of two instruments: one is older, and some of its sensors are off."""

import torch

GASES = ["ammonia", "acetone", "ethylene", "ethanol", "toluene"]
SENSORS = 12


def load(samples, aged, noise, drift, instrument, seed):
    """Return (readings, gases): float32 of shape (N, SENSORS), int64 of shape (N,).

    A reading grows with the root of the concentration. The `aged` sensors, if there are any, have gained or lost.
    """
    generator = torch.Generator().manual_seed(instrument)
    responses = 0.4 + 1.2 * torch.rand(len(GASES), SENSORS, generator=generator)
    order = torch.randperm(SENSORS, generator=generator)
    directions = (torch.rand(SENSORS, generator=generator) - 0.5).sign()
    shifts = directions * (0.6 + 0.8 * torch.rand(SENSORS, generator=generator))

    generator = torch.Generator().manual_seed(seed)
    gases = torch.randint(len(GASES), (samples,), generator=generator)
    concentrations = 0.5 + 1.5 * torch.rand(samples, 1, generator=generator)
    readings = responses[gases] * concentrations.sqrt() + noise * torch.randn(samples, SENSORS, generator=generator)
    changed = order[:aged]
    readings[:, changed] *= 1 + 0.15 * directions[changed]
    readings[:, changed] += drift * shifts[changed]
    return readings, gases
