"""The handwritten digits of scikit-learn, and how far generated ones are from them."""

import torch
from sklearn.datasets import load_digits


def load(device):
    """Return (images, labels) to train on, 1437 of them, and (images, labels) held out, 360.

    Images are float32 of shape (N, 64), from -1 to 1. They lie in the order of their writers, so they are shuffled, the
    same way every time, before they are split.
    """
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32) / 8 - 1
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    return tuple((images[part].to(device), labels[part].to(device)) for part in (order[:1437], order[1437:]))


def frechet_distance(ours, theirs):
    """How far two sets of images are apart: 0 if their pixels have the same mean and the same covariance.

    As in the Fréchet inception distance both are taken for samples of normal distributions; here of pixels, there of a
    network's features.
    """
    ours, theirs = ours.double().cpu(), theirs.double().cpu()
    difference = ours.mean(0) - theirs.mean(0)
    first, second = ours.T.cov(), theirs.T.cov()
    roots = torch.linalg.eigvals(first @ second).real.clamp(min=0).sqrt()
    return (difference @ difference + first.trace() + second.trace() - 2 * roots.sum()).item()
