"""Made views of streets: sky, grass, a road that gets wider towards the viewer, and a car on it."""

import torch

SIZE = 24
CLASSES = ["sky", "grass", "road", "car"]
COLOURS = torch.tensor([[0.5, 0.6, 0.9], [0.3, 0.6, 0.3], [0.5, 0.5, 0.5], [0.7, 0.3, 0.4]])


def load(views, noise, seed):
    """Return (images, masks): float32 of shape (N, 3, SIZE, SIZE), int64 of shape (N, SIZE, SIZE)."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(low, high):
        return low + (high - low) * torch.rand(views, 1, 1, generator=generator)

    y = torch.arange(SIZE, dtype=torch.float32)[:, None]
    x = torch.arange(SIZE, dtype=torch.float32)
    horizon, middle, slope = uniform(8, 12), uniform(8, 16), uniform(0.6, 1.0)
    masks = (y >= horizon).long().repeat(1, 1, SIZE)
    masks[(y >= horizon) & ((x - middle).abs() < 1 + slope * (y - horizon))] = 2
    car_y, car_x = uniform(14, 20), middle + uniform(-2, 2)
    size = 1.2 + 0.22 * (car_y - horizon)
    masks[((x - car_x).abs() < size) & ((y - car_y).abs() < 0.7 * size)] = 3
    images = COLOURS[masks].movedim(-1, 1) * uniform(0.7, 1.2).unsqueeze(1)
    return images + noise * torch.randn(images.shape, generator=generator), masks
