"""The words in scikit-learn's descriptions of its data sets, as numbers of letters."""

import re

import torch
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud, load_wine

PADDING, EDGE, LETTERS = 0, 1, "abcdefghijklmnopqrstuvwxyz"
CLASSES = 2 + len(LETTERS)


def load(longest, device):
    """Return (inputs, targets) to train on, four fifths of the words, and (inputs, targets) to validate.

    Both have the shape (words, longest + 1). A word begins and ends with EDGE; behind its end is PADDING.
    Each target is the letter that follows.
    """
    sets = (load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud, load_wine)
    text = " ".join(load().DESCR for load in sets).lower()
    words = sorted(word for word in set(re.findall(r"[a-z]+", text)) if 3 <= len(word) <= longest)
    rows = torch.full((len(words), longest + 2), PADDING)
    for row, word in zip(rows, words, strict=True):
        numbers = [EDGE, *(2 + LETTERS.index(letter) for letter in word), EDGE]
        row[: len(numbers)] = torch.tensor(numbers)
    order = torch.randperm(len(words), generator=torch.Generator().manual_seed(0))
    rows = rows[order].to(device)
    border = len(words) * 4 // 5
    return tuple((part[:, :-1], part[:, 1:]) for part in (rows[:border], rows[border:]))
