"""Made images of signs: each of ten kinds has a drawing of its own, in all shades, before another background."""

import torch
from torch.nn.functional import avg_pool2d
from torch.utils.data import Dataset

SIZE = 20
KINDS = 10


def draw(number, noise, drawings, seed):
    """Return (images, kinds): float32 of shape (N, 1, SIZE, SIZE), int64 of shape (N,)."""
    generator = torch.Generator().manual_seed(drawings)
    shapes = avg_pool2d(torch.randn(KINDS, 1, SIZE + 4, SIZE + 4, generator=generator), 5, stride=1) > 0.0
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(KINDS, (number,), generator=generator)
    contrasts = 0.5 + torch.rand(number, 1, 1, 1, generator=generator)
    backgrounds = 3 * avg_pool2d(torch.randn(number, 1, SIZE + 8, SIZE + 8, generator=generator), 9, stride=1)
    images = contrasts * shapes[kinds].float() + backgrounds
    return images + noise * torch.randn(images.shape, generator=generator), kinds


class Signs(Dataset):
    def __init__(self, images, kinds, transform=None):
        self.images = images
        self.kinds = kinds
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, number):
        image = self.images[number]
        if self.transform is not None:
            image = self.transform(image)
        return image, self.kinds[number]


class ShiftAndErase:
    """Shift an image by some pixels, and blacken a square of it."""

    def __init__(self, shift, square):
        self.shift = shift
        self.square = square

    def __call__(self, image):
        y, x = torch.randint(-self.shift, self.shift + 1, (2,)).tolist()
        image = torch.roll(image, (y, x), dims=(1, 2))
        y, x = torch.randint(SIZE - self.square + 1, (2,)).tolist()
        image[:, y : y + self.square, x : x + self.square] = 0
        return image
