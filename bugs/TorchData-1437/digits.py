"""The handwritten digits of scikit-learn as tensors in memory."""

import torch
from sklearn.datasets import load_digits


def load(device):
    """Return (images, labels) to train on, 1500 of them, and (images, labels) to validate, 297.

    Images are float32 of shape (N, 1, 8, 8), from -1 to 1. They lie in the order of their writers, so they are
    shuffled, the same way every time, before they are split.
    """
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    return tuple((images[part].to(device), labels[part].to(device)) for part in (order[:1500], order[1500:]))
