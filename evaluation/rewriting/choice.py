"""Choices by a seed: numbers that depend on the seed and on what is chosen for, and on nothing else."""

import hashlib
import json
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def number(seed: int, *what: object) -> int:
    """A number of 64 bits; the same for the same seed and the same text of `what`, in any process."""
    text = json.dumps([seed, *map(str, what)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def one(seed: int, choices: Sequence[T], *what: object) -> T:
    """One of the choices."""
    return choices[number(seed, *what) % len(choices)]
