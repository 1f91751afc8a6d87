"""Reductions: how many values become one.

To add a reduction, add an entry to REDUCTIONS, and its cases to
tests/runner/expectations/test_reductions.py. config.json may then hold it. Write the schema of
config.json anew with `python -m trainbugs.schemas`.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from runner.errors import MeasureError
from runner.expectations.values import Value, brief


@dataclass(frozen=True)
class Reduction:
    """One way to make one value of many, which are never none.

    `makes_number`: the value is a number, whatever the values are. `needs_numbers`: `function` gets
    numbers only.
    """

    function: Callable[[Sequence[Any]], Value]
    makes_number: bool = True
    needs_numbers: bool = True


def _largest_drop(numbers: Sequence[float]) -> float:
    return max((earlier - later for earlier, later in pairwise(numbers)), default=0.0)


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _count_distinct(values: Sequence[Any]) -> int:
    return len({_hashable(value) for value in values})


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


REDUCTIONS: Mapping[str, Reduction] = {
    "first": Reduction(lambda values: values[0], makes_number=False, needs_numbers=False),
    "last": Reduction(lambda values: values[-1], makes_number=False, needs_numbers=False),
    "max": Reduction(max),
    "min": Reduction(min),
    "mean": Reduction(_mean),
    "median": Reduction(statistics.median),
    "largest_drop": Reduction(_largest_drop),
    "distinct": Reduction(_count_distinct, needs_numbers=False),
    "count": Reduction(len, needs_numbers=False),
}

if TYPE_CHECKING:
    ReductionName = str
else:
    # What config.json may hold: the keys of the table.
    ReductionName = Literal[tuple(REDUCTIONS)]


def reduce(values: Sequence[Value], name: str) -> Value:
    """One value made of these values, which are never none. Raises MeasureError."""
    reduction = REDUCTIONS[name]
    if not reduction.needs_numbers:
        return reduction.function(values)
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    if len(numbers) != len(values):
        raise MeasureError(f"{name} needs numbers, found {brief(list(values))}")
    try:
        return reduction.function(numbers)
    except OverflowError as error:
        shown = brief(list(values))
        raise MeasureError(f"the {name} of {shown} cannot be computed: {error}") from error
