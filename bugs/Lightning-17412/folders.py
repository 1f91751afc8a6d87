"""The handwritten digits of scikit-learn, in the order in which a folder for each digit is read."""

import torch
from sklearn.datasets import load_digits
from torch.utils.data import TensorDataset


def load():
    """Return images to train on, 1000 of them, and 797 to validate: float32 of shape (1, 8, 8), from -1 to 1."""
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    parts = (part[labels[part].argsort(stable=True)] for part in (order[:1000], order[1000:]))
    return tuple(TensorDataset(images[part], labels[part]) for part in parts)
