"""The handwritten digits of scikit-learn as tensors in memory: which of them are an eight?"""

import torch
from sklearn.datasets import load_digits


def load():
    """Return (images, labels) to train on, 800 of them, to validate, 400, and to test, 597.

    Images are float32 of shape (N, 64), from 0 to 1; a label is 1 for an eight, which about one in ten is, else 0. They
    lie in the order of their writers, so they are shuffled, the same way every time, before they are split.
    """
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32) / 16
    labels = torch.tensor(labels == 8, dtype=torch.int64)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    return tuple((images[part], labels[part]) for part in (order[:800], order[800:1200], order[1200:]))
