"""seeds.json: which operators a seed plants, so that a new operator changes no program that an
earlier seed planted.

Each entry names the operators that join at a seed; that seed and all later ones plant them.
"""

import json
from functools import cache
from pathlib import Path

SEEDS = Path(__file__).with_name("seeds.json")


def operator_names(seed: int) -> frozenset[str]:
    """The names of the operators that a seed plants: those that joined at it,
    or at an earlier one.
    """
    names: set[str] = set()
    for first_seed, operators in joining_operators().items():
        if first_seed <= seed:
            names.update(operators)
    return frozenset(names)


@cache
def joining_operators() -> dict[int, tuple[str, ...]]:
    """The names of the operators that join, by the first seed that plants them."""
    entries = json.loads(SEEDS.read_text(encoding="utf-8"))
    return {int(seed): tuple(operators) for seed, operators in entries.items()}
