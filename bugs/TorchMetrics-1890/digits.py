"""Handwritten digits of scikit-learn as tensors in memory; some labels to train on are drawn at random."""

import torch
from sklearn.datasets import load_digits


def load(count, drawn, seed, device):
    """Return (images, labels) to train on, that many, and (images, labels) to validate, 500.

    Images are float32 of shape (N, 64), from -1 to 1. A share `drawn` of the labels to train on is drawn at random.
    """
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32) / 8 - 1
    labels = torch.tensor(labels)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(labels), generator=generator)
    train, validation = order[:count], order[-500:]
    noisy = labels[train].clone()
    chosen = torch.randperm(count, generator=generator)[: int(drawn * count)]
    noisy[chosen] = torch.randint(10, (len(chosen),), generator=generator)
    return (images[train].to(device), noisy.to(device)), (images[validation].to(device), labels[validation].to(device))
