"""Made frames of videos: a mouse in a box, seen by a camera above it or by one below a floor of glass."""

import torch

SIZE = 24
POINTS = ["nose", "base of the tail", "tip of the tail"]


def pose(count, generator):
    """Where nose, base and tip of the tail are, in pixels: shape (count, 3, 2)."""

    def uniform(low, high):
        return low + (high - low) * torch.rand(count, generator=generator)

    centre = torch.stack([uniform(8, 16), uniform(8, 16)], 1)
    heading = uniform(0, 2 * torch.pi)
    bend = heading + uniform(-1.2, 1.2)
    body = uniform(3, 4).unsqueeze(1) * torch.stack([heading.cos(), heading.sin()], 1)
    tail = uniform(4, 5).unsqueeze(1) * torch.stack([bend.cos(), bend.sin()], 1)
    return torch.stack([centre + body, centre - body, centre - body - tail], 1)


def draw(points):
    """Images of mice, 1 where the mouse is and 0 elsewhere: shape (N, 1, SIZE, SIZE)."""
    grid = torch.arange(SIZE, dtype=torch.float32)
    pixels = torch.stack(torch.meshgrid(grid, grid, indexing="xy"), -1)
    images = torch.zeros(len(points), SIZE, SIZE)
    shares = torch.linspace(0, 1, 7).view(-1, 1)
    nose, base, tip = points.unbind(1)
    # The body is narrow at the nose and wide behind it; the tail is thin.
    for start, end, widths in ((nose, base, torch.linspace(0.8, 2.2, 7)), (base, tip, torch.full((7,), 0.7))):
        for share, width in zip(shares, widths, strict=True):
            spot = (start + share * (end - start)).view(-1, 1, 1, 2)
            images = torch.maximum(images, (-(pixels - spot).square().sum(-1) / (2 * width**2)).exp())
    return images.unsqueeze(1)


def load(count, camera, seed):
    """Return (images, points) of one camera: 0 sees a bright mouse from above, 1 a dark one from below."""
    generator = torch.Generator().manual_seed(seed)
    points = pose(count, generator)
    images = draw(points)
    if camera:
        images = 0.8 - 0.8 * images
    return images + 0.1 * torch.randn(images.shape, generator=generator), points
