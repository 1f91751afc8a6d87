"""Made images of hearts: slices through both ventricles, two of each patient, with and without a contrast agent."""

import torch
from torch.nn.functional import avg_pool2d

SIZE = 32
CLASSES = ["background", "right ventricle", "muscle", "left ventricle"]
BRIGHTNESS = {"contrast": [0.4, 1.0, 0.55, 1.0], "native": [0.4, 0.65, 0.5, 0.65]}


def distance(x, y):
    """How far each pixel is from the points (x, y): shape (patients, SIZE, SIZE)."""
    grid = torch.arange(SIZE, dtype=torch.float32)
    return ((grid - x[:, None, None]) ** 2 + (grid[:, None] - y[:, None, None]) ** 2).sqrt()


def load(patients, noise, seed):
    """Return (images, masks) of 2 * patients slices, as a sorted list of files has them: contrast before native.

    Images are float32 of shape (N, 1, SIZE, SIZE), masks int64 of shape (N, SIZE, SIZE), numbers of CLASSES. A contrast
    agent makes the blood bright; without it blood and muscle look much alike.
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(patients, *shape, generator=generator)

    x, y, inner = uniform(17, 21), uniform(13, 19), uniform(4, 6)
    outer, right, angle = inner + uniform(2.5, 3.5), uniform(5, 7), uniform(2.6, 3.7)
    beside = distance(x + (outer + 0.3 * right) * angle.cos(), y + (outer + 0.3 * right) * angle.sin())
    left = distance(x, y)
    mask = (beside < right[:, None, None]).long()
    mask[left < outer[:, None, None]] = 2
    mask[left < inner[:, None, None]] = 3
    images = []
    for brightness in BRIGHTNESS.values():
        tissue = torch.tensor(brightness)[mask]
        tissue += 0.4 * avg_pool2d(uniform(-1, 1, SIZE + 6, SIZE + 6), 7, stride=1) * (mask == 0)
        blurred = avg_pool2d(tissue, 3, stride=1, padding=1, count_include_pad=False)
        images.append(blurred + noise * torch.randn(blurred.shape, generator=generator))
    return torch.stack(images, 1).reshape(-1, 1, SIZE, SIZE), mask.repeat_interleave(2, 0)
