"""Made scans of brains: two channels, in which a tumour has an oedema around its core."""

import torch
from torch.nn.functional import avg_pool2d

SIZE = 24
CLASSES = ["background", "oedema", "core"]
BRIGHTNESS = torch.tensor([[0.5, 0.4], [0.4, 1.0], [1.1, 0.8]])  # of each class, in each channel


def load(patients, noise, seed):
    """Return (images, masks): float32 of shape (N, 2, SIZE, SIZE), int64 of shape (N, 1, SIZE, SIZE).

    A mask has the numbers of CLASSES.
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(patients, *shape, generator=generator)

    x, y, radius, share = uniform(6, 18), uniform(6, 18), uniform(2.5, 4.5), uniform(0.5, 0.7)
    grid = torch.arange(SIZE, dtype=torch.float32)
    distance = ((grid - x[:, None, None]) ** 2 + (grid[:, None] - y[:, None, None]) ** 2).sqrt()
    distance += 3 * avg_pool2d(uniform(-1, 1, SIZE + 4, SIZE + 4), 5, stride=1)
    masks = (distance < radius[:, None, None]).long() + (distance < (share * radius)[:, None, None])
    images = BRIGHTNESS[masks].movedim(-1, 1)
    images = images + 0.4 * avg_pool2d(uniform(-1, 1, 2, SIZE + 6, SIZE + 6), 7, stride=1)
    images = avg_pool2d(images, 3, stride=1, padding=1, count_include_pad=False)
    return images + noise * torch.randn(images.shape, generator=generator), masks.unsqueeze(1)
