"""Made pictures of one or two things, each with a caption."""

import torch

WORDS = ["[PAD]", "[BEGIN]", "[END]", "red", "green", "blue", "yellow"]
WORDS += ["circle", "square", "triangle", "cross", "above", "beside"]
PAD, BEGIN, END = range(3)
COLOURS = {"red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0)}
SHAPES = ["circle", "square", "triangle", "cross"]
SIDE, CELL = 16, 8
LENGTH = 7


def outline(shape):
    """Where a shape is in its cell, as a mask."""
    radius = 3
    y, x = torch.meshgrid(*[torch.arange(CELL) - (CELL - 1) / 2] * 2, indexing="ij")
    inside = (x.abs() <= radius + 0.5) & (y.abs() <= radius + 0.5)
    if shape == "circle":
        return x**2 + y**2 <= (radius + 0.5) ** 2
    if shape == "triangle":
        return inside & (2 * x.abs() <= y + radius + 0.5)
    if shape == "cross":
        return inside & ((x.abs() <= radius / 4 + 0.5) | (y.abs() <= radius / 4 + 0.5))
    return inside


def load(count, noise, seed):
    """Pictures (count, 3, side, side), and captions (count, length) from begin to end, padded behind."""
    generator = torch.Generator().manual_seed(seed)

    def choose(options):
        return list(options)[int(torch.randint(len(options), (), generator=generator))]

    pictures = noise * torch.randn(count, 3, SIDE, SIDE, generator=generator)
    captions = torch.full((count, LENGTH), PAD)
    for picture, caption in zip(pictures, captions, strict=True):
        relation = choose(["above", "beside", ""])
        words = ["[BEGIN]"]
        for number in range(2 if relation else 1):
            colour, shape = choose(COLOURS), choose(SHAPES)
            top, left = (CELL * number, 0) if relation == "above" else (0, CELL * number)
            mask = outline(shape)
            picture[:, top : top + CELL, left : left + CELL] += torch.tensor(COLOURS[colour])[:, None, None] * mask
            words += [colour, shape] if number == 0 else [relation, colour, shape]
        words.append("[END]")
        caption[: len(words)] = torch.tensor([WORDS.index(word) for word in words])
    return pictures, captions
