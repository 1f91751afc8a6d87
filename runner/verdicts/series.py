"""The values that a series takes from records, for expectations, drift and figures. Pure functions."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from runner.bugs.model import Record, Series
from runner.errors import MeasureError

Value = float | bool | str


def values(series: Series, variant: str, records: Mapping[str, Sequence[Record]]) -> list[Value]:
    """The series of `variant`; `records` maps each variant to its records, in order.

    Raises MeasureError where a metric is missing or not finite, or the two sides of `minus` differ in length.
    """
    own = select(series.metric, series.where, records[variant], variant)
    if series.minus is None and series.minus_where is None:
        return [_scalar(value, series.metric) for value in own]
    other_variant = series.minus or variant
    if other_variant not in records:
        raise MeasureError(f"metric {series.metric!r} of variant {other_variant} is needed, and there is no such run")
    where = series.where if series.minus_where is None else series.minus_where
    other = select(series.metric, where, records[other_variant], other_variant)
    if len(own) != len(other):
        raise MeasureError(f"metric {series.metric!r}: {len(own)} values cannot be subtracted from {len(other)}")
    return [difference(a, b) for a, b in zip(own, other, strict=True)]


def select(metric: str, where: Mapping[str, Any], records: Sequence[Record], variant: str) -> list[Any]:
    """The metric of each record that matches `where`.

    Raises MeasureError where none matches, or the metric is missing or not finite in one.
    """
    chosen = [record for record in records if all(record.get(key) == value for key, value in where.items())]
    if not chosen:
        raise MeasureError(f"no record of variant {variant} has {_words(where)}")
    missing = [index for index, record in enumerate(chosen, 1) if metric not in record]
    if missing:
        raise MeasureError(f"metric {metric!r} is missing in record {missing[0]} of variant {variant}")
    for index, record in enumerate(chosen, 1):
        if not is_finite(record[metric]):
            raise MeasureError(f"metric {metric!r} is {record[metric]!r} in record {index} of variant {variant}")
    return [record[metric] for record in chosen]


def difference(a: Any, b: Any) -> float:
    """a - b; for lists, the largest absolute difference of their elements. Raises MeasureError for anything else."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and a:
        return max(abs(difference(x, y)) for x, y in zip(a, b, strict=True))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return float(a) - float(b)
    raise MeasureError(f"{_short(a)} and {_short(b)} cannot be subtracted")


def reduce(sequence: Sequence[Value], how: str) -> Value:
    """One value made of a sequence; `how` is one of the schema's words except `all`. Raises MeasureError."""
    if how == "first":
        return sequence[0]
    if how == "last":
        return sequence[-1]
    numbers = [float(value) for value in sequence if isinstance(value, int | float)]
    if len(numbers) != len(sequence):
        raise MeasureError(f"{how} needs numbers, found {_short(list(sequence))}")
    if how == "largest_drop":
        return max((a - b for a, b in zip(numbers, numbers[1:], strict=False)), default=0.0)
    if how == "mean":
        try:
            return math.fsum(numbers) / len(numbers)
        except OverflowError as error:
            raise MeasureError(f"the mean of {_short(list(sequence))} cannot be computed: {error}") from error
    return max(numbers) if how == "max" else min(numbers)


def is_finite(value: Any) -> bool:
    """Whether a metric is usable: a finite number, a boolean, a text that stands for no NaN, or a list of them."""
    if isinstance(value, list):
        return all(is_finite(element) for element in value)
    if isinstance(value, int | float):
        return abs(value) <= sys.float_info.max
    return isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity")


def _scalar(value: Any, metric: str) -> Value:
    if isinstance(value, int | float | str):
        return value
    raise MeasureError(f"metric {metric!r} is {_short(value)}, expected one value in each record")


def _words(where: Mapping[str, Any]) -> str:
    return " and ".join(f"{key} = {value!r}" for key, value in where.items()) or "any field"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:60] + "…"
