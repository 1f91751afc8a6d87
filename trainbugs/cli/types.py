"""Types of the values on a command line: functions that parse what is typed."""

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner.session.options import DEVICES

# The seed of rewritten programs is part of the name of a folder.
MAX_SEED = 10**9


def count(text: str) -> int:
    """Parse a number of things, at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of at least 1")
    return int(text)


def numbers(text: str) -> tuple[int, ...]:
    """Parse a list of seeds, or of GPUs: different numbers >= 0, separated by commas."""
    try:
        values = tuple(int(part) for part in text.split(","))
    except ValueError:
        values = ()
    if not values or min(values) < 0 or len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected different numbers >= 0, separated by commas, like 0,1,2"
        )
    return values


def seed(text: str) -> int:
    """Parse one seed: a number >= 0, as a record can hold it."""
    if not text.isdecimal() or int(text) > MAX_SEED:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to {MAX_SEED}")
    return int(text)


def device(text: str) -> str:
    """Parse the name of a device."""
    if not re.fullmatch(DEVICES, text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected auto, cpu, cuda or cuda:N")
    return text


def positive(text: str) -> float:
    """Parse a number above 0, of seconds for example."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0")
    return seconds


# The functions that parse what is typed, by the name of the option or else the type of its field.
PARSERS: dict[Any, Callable[[str], Any]] = {
    "device": device,
    int: count,
    float: positive,
    str: str,
    Path: Path,
    tuple[int, ...]: numbers,
    tuple[str, ...]: str,
}
