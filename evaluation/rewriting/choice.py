"""Choices by a seed: numbers that depend on the seed and on their purpose, and on nothing else."""

import hashlib
import json
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def number(seed: int, *purpose: object) -> int:
    """A number of 64 bits; the same for the same seed and the same text of `purpose`,
    in any process.
    """
    text = json.dumps([seed, *map(str, purpose)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def pick(seed: int, choices: Sequence[T], *purpose: object) -> T:
    """A choice out of several."""
    return choices[number(seed, *purpose) % len(choices)]
