"""Made photographs of balls in front of a wall, with the depth of each pixel, and two functions for images."""

import numpy as np


def img_as_float(image):
    """Values from 0 to 1: whole numbers are divided by the largest one of their type, other images are left alone."""
    return image / np.iinfo(image.dtype).max if np.issubdtype(image.dtype, np.integer) else image


def resize(image, size):
    """The same image with (height, width) pixels, each the mean of those that it covers; values from 0 to 1."""
    image = img_as_float(image)
    height, width = size
    return image.reshape(height, image.shape[0] // height, width, image.shape[1] // width, -1).mean((1, 3))


def photograph(generator, size):
    """An image of whole numbers from 0 to 255 (height, width, colour), and the depth of its pixels.

    All balls are equally large, and light fades with distance.
    """
    rows, columns = np.mgrid[0:size, 0:size] / size
    depth = np.full((size, size), 10.0)
    colour = np.ones((size, size, 3)) * generator.uniform(0.6, 1, 3)
    for distance in sorted(generator.uniform(1.5, 8, 4), reverse=True):
        row, column = generator.uniform(0.1, 0.9, 2)
        ball = (rows - row) ** 2 + (columns - column) ** 2 < (0.35 / distance) ** 2
        depth[ball] = distance
        colour[ball] = generator.uniform(0.6, 1, 3)
    light = np.exp(-depth / 8)[..., None] * generator.uniform(0.8, 1.2)
    image = 255 * colour * light + generator.normal(0, 4, (size, size, 3))
    return image.clip(0, 255).astype(np.uint8), depth.astype(np.float32)


def photographs(number, sizes, generator):
    return [photograph(generator, sizes[i % len(sizes)]) for i in range(number)]
