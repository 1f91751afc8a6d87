"""Handwritten digits in memory, from scikit-learn, and convolution filters that were learned from them beforehand."""

import torch
from sklearn.datasets import load_digits


def load(device):
    """Return (images, labels) to train on, 1500 of them, and (images, labels) to validate, 297: (N, 1, 8, 8), 0 to 1.

    They lie in the order of their writers, so they are shuffled, the same way every time, before they are split.
    """
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    return tuple((images[part].to(device), labels[part].to(device)) for part in (order[:1500], order[1500:]))


def filters(images, size):
    """The principal components of all patches of size x size pixels, as weights (size * size, 1, size, size)."""
    patches = images.unfold(2, size, 1).unfold(3, size, 1).reshape(-1, size * size).double()
    patches = patches - patches.mean(0)
    _, components = torch.linalg.eigh(patches.T @ patches)
    return components.T.flip(0).reshape(-1, 1, size, size).float()
