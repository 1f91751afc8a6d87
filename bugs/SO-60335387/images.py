"""Handwritten digits as tensors in memory: MNIST (through torchvision) or the small set that scikit-learn brings."""

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

import torch
from torch import nn

MNIST_HELP = (
    "MNIST cannot be read from {root}: {error}. Its four idx files belong into {root}/MNIST/raw; "
    "or name the folder that holds MNIST/raw in TRAINBUGS_DATA (with `trainbugs run`: --data)"
)


def load(name, device):
    """Return ((images, labels), (images, labels)), for training and for validation.

    Images are float32 of shape (N, 1, 28, 28), standardised; labels are int64 of shape (N,); both on `device`.
    """
    train, validation = {"digits": load_digits, "mnist": load_mnist}[name]()
    mean, std = train[0].mean(), train[0].std()
    return tuple(((x - mean).div(std).to(device), y.to(device)) for x, y in (train, validation))


def load_digits():
    """scikit-learn's 1797 digits of 8x8 pixels, enlarged to 28x28: 1500 to train on, 297 to validate.

    They lie in the order of their writers, so they are shuffled, the same way every time, before they are split.
    """
    from sklearn.datasets import load_digits as sklearn_digits

    images, labels = sklearn_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8)
    images = nn.functional.interpolate(images, size=(28, 28), mode="bilinear", align_corners=False)
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    train, validation = order[:1500], order[1500:]
    return (images[train], labels[train]), (images[validation], labels[validation])


def load_mnist():
    """MNIST: 60,000 images to train on, 10,000 to validate; downloaded once unless TRAINBUGS_DATA names a folder."""
    given = os.environ.get("TRAINBUGS_DATA")
    cache = os.environ.get("TRAINBUGS_CACHE") or Path.home() / ".cache" / "trainbugs"
    root = Path(given) if given else Path(cache) / "data"
    return tuple(read_mnist(root, train, download=not given) for train in (True, False))


def read_mnist(root, train, download):
    from torchvision.datasets import MNIST

    count = 60_000 if train else 10_000
    try:
        with redirect_stdout(sys.stderr):
            data = MNIST(root, train=train, download=download)
        if (len(data.data), len(data.targets)) != (count, count):
            raise ValueError(f"{len(data.data)} images and {len(data.targets)} labels, expected {count} of each")
    except (RuntimeError, ValueError, KeyError, AssertionError, OSError) as error:
        sys.exit(MNIST_HELP.format(root=root, error=str(error).rstrip(".") or "a file is not in the idx format"))
    return data.data.unsqueeze(1).float(), data.targets
