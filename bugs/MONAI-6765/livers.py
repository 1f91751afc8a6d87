"""Made scans of livers, in which some have a small, bright lesion."""

import torch
from torch.nn.functional import avg_pool2d

SIZE = 32
CLASSES = ["background", "lesion"]


def load(patients, share, noise, seed):
    """Return (images, masks): float32 and int64 of shape (N, 1, SIZE, SIZE); a share of the livers has a lesion.

    A mask has the numbers of CLASSES. The liver itself is background.
    """
    generator = torch.Generator().manual_seed(seed)
    grid = torch.arange(SIZE, dtype=torch.float32)

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(patients, *shape, generator=generator)

    def blob(x, y, radius, roughness):
        distance = ((grid - x[:, None, None]) ** 2 + (grid[:, None] - y[:, None, None]) ** 2).sqrt()
        distance += roughness * avg_pool2d(uniform(-1, 1, SIZE + 4, SIZE + 4), 5, stride=1)
        return distance < radius[:, None, None]

    x, y = uniform(13, 19), uniform(13, 19)
    liver = blob(x, y, uniform(9, 12), roughness=3)
    angle, distance = uniform(0, 6.283), uniform(0, 6)
    lesion = blob(x + distance * angle.cos(), y + distance * angle.sin(), uniform(1.4, 2.4), roughness=2)
    lesion &= liver & (uniform(0, 1) < share)[:, None, None]
    images = (0.2 + 0.5 * liver + 0.5 * lesion).unsqueeze(1)
    images = images + 0.3 * avg_pool2d(uniform(-1, 1, 1, SIZE + 6, SIZE + 6), 7, stride=1)
    images = avg_pool2d(images, 3, stride=1, padding=1, count_include_pad=False)
    return images + noise * torch.randn(images.shape, generator=generator), lesion.long().unsqueeze(1)
