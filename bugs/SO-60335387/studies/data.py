"""Small data sets for classification, as tensors in memory: tables, images, sequences of tokens, a text.

MNIST is read from the folder that TRAINBUGS_DATA names; the others need no download.
"""

import os
from dataclasses import dataclass

import torch

TOKENS, LENGTH = 4, 15
LETTERS, CONTEXT = 6, 6


@dataclass
class Data:
    """Inputs and labels to train on and to validate; `tokens` is the number of different ones, 0 for other inputs."""

    train: tuple
    validation: tuple
    classes: int
    tokens: int = 0


def load(name):
    """Return the data set of that name: wine, breast_cancer, digits, majority, text or mnist."""
    return {"digits": digits, "majority": majority, "text": text, "mnist": mnist}.get(name, lambda: table(name))()


def table(name):
    """Return scikit-learn's table of that name: standardised rows of numbers."""
    from sklearn import datasets

    inputs, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    inputs, labels = torch.tensor(inputs, dtype=torch.float32), torch.tensor(labels)
    return split((inputs - inputs.mean(0)) / inputs.std(0), labels, len(labels) // 2)


def digits():
    """Return 1797 handwritten digits of 8x8 pixels."""
    from sklearn.datasets import load_digits

    inputs, labels = load_digits(return_X_y=True)
    inputs = torch.tensor(inputs, dtype=torch.float32).view(-1, 1, 8, 8)
    return split((inputs - inputs.mean()) / inputs.std(), torch.tensor(labels), 400)


def mnist():
    """Return 6000 images of MNIST, reduced to 14x14 pixels."""
    from torchvision.datasets import MNIST

    images = MNIST(os.environ["TRAINBUGS_DATA"], train=True)
    inputs = torch.nn.functional.avg_pool2d(images.data[:6000, None].float(), 2)
    return split((inputs - inputs.mean()) / inputs.std(), images.targets[:6000], 1000)


def majority():
    """Return random sequences of tokens; the label is the token that is most frequent, the first of equals."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(TOKENS, (2000, LENGTH), generator=generator)
    labels = torch.nn.functional.one_hot(inputs, TOKENS).sum(1).argmax(1)
    return split(inputs, labels, 400, TOKENS)


def text():
    """Return windows of a text in which each letter depends on the two before it; the label is the next letter."""
    generator = torch.Generator().manual_seed(0)
    chances = torch.rand(LETTERS, LETTERS, LETTERS, generator=generator).pow(12)
    letters = [0, 1]
    for _ in range(3000):
        letters.append(int(torch.multinomial(chances[letters[-2], letters[-1]], 1, generator=generator)))
    windows = torch.tensor(letters).unfold(0, CONTEXT + 1, 1)
    return split(windows[:, :-1], windows[:, -1], 1000, LETTERS)


def split(inputs, labels, count, tokens=0):
    """Return the data with `count` samples to validate, always the same ones."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    train, validation = order[count:], order[:count]
    classes = int(labels.max()) + 1
    return Data((inputs[train], labels[train]), (inputs[validation], labels[validation]), classes, tokens)
