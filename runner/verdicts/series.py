"""The values that a series takes from records, for expectations, drift and figures. Pure functions."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from runner.bugs.model import Operand, Record, Series, counted
from runner.errors import MeasureError
from runner.files.structs import near

Value = float | bool | str


def values(
    series: Series, variant: str, records: Mapping[str, Sequence[Record]], lists: bool = False
) -> list[Value]:
    """The series of `variant`; `records` maps each variant to its records, in order.

    With `lists`, a value may be a list. Raises MeasureError where a metric is missing or not finite, or the two sides
    of a difference or a ratio differ in length.
    """
    own = _elements(series, select(series.metric, series.where, records[variant], variant))
    if series.other is None:
        return own if lists else [_scalar(value, series.metric) for value in own]
    other = _others(series, series.other, variant, records)
    if (
        len(own) != len(other)
        and len(other) == 1
        and (series.other.where is not None or series.other.reduce)
    ):
        other *= len(own)
    if len(own) != len(other):
        key = "over" if series.over else "minus"
        sides = (
            "`where` and `minus_where`"
            if series.minus_where is not None
            else f"`where` and that of `{key}`"
        )
        raise MeasureError(
            f"metric {series.metric!r}: {counted(len(own), 'value')} {key} "
            f"{counted(len(other), 'value')}: if config.json means other records, let {sides} pick as many, or one"
        )
    return [(ratio if series.over else difference)(a, b) for a, b in zip(own, other, strict=True)]


def _others(
    series: Series, other: Operand, variant: str, records: Mapping[str, Sequence[Record]]
) -> list[Any]:
    """The values that are subtracted or divided by."""
    of = other.variant or variant
    metric = other.metric or series.metric
    if of not in records:
        raise MeasureError(f"metric {metric!r} of variant {of} is needed, and there is no such run")
    chosen = select(metric, series.where if other.where is None else other.where, records[of], of)
    found = _elements(series, chosen)
    return [reduce(found, other.reduce)] if other.reduce else found


def _elements(series: Series, found: list[Any]) -> list[Any]:
    """The element `index` of each value, or the values as they are."""
    if series.index is None:
        return found
    short = [
        value
        for value in found
        if not isinstance(value, list) or not -len(value) <= series.index < len(value)
    ]
    if short:
        raise MeasureError(
            f"metric {series.metric!r} is {_short(short[0])}, which has no element {series.index}"
        )
    return [value[series.index] for value in found]


def select(
    metric: str, where: Mapping[str, Any], records: Sequence[Record], variant: str
) -> list[Any]:
    """The metric of each record that matches `where`.

    Raises MeasureError where none matches, or the metric is missing or not finite in one.
    """
    chosen = [
        record
        for record in records
        if all(record.get(key) == value for key, value in where.items())
    ]
    if not chosen:
        raise MeasureError(f"no record of variant {variant} has {_words(where)}")
    missing = [index for index, record in enumerate(chosen, 1) if metric not in record]
    if missing:
        place = f"record {missing[0]} of variant {variant}"
        raise MeasureError(
            f"metric {metric!r} is missing in {place}{_remedy(metric, missing, chosen)}"
        )
    for index, record in enumerate(chosen, 1):
        if not is_finite(record[metric]):
            raise MeasureError(
                f"metric {metric!r} is {record[metric]!r} in record {index} of variant {variant}"
            )
    return [record[metric] for record in chosen]


def difference(a: Any, b: Any) -> float:
    """a - b; for lists, the largest absolute difference of their elements. Raises MeasureError for anything else."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and a:
        return max(abs(difference(x, y)) for x, y in zip(a, b, strict=True))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return float(a) - float(b)
    raise MeasureError(f"{_short(a)} and {_short(b)} cannot be subtracted")


def ratio(a: Any, b: Any) -> float:
    """a / b; raises MeasureError where that is no finite number."""
    if not (isinstance(a, int | float) and isinstance(b, int | float)):
        hint = "; name an element of the list by `index`" if isinstance(a, list) else ""
        raise MeasureError(f"{_short(a)} cannot be divided by {_short(b)}{hint}")
    if not b or not is_finite(float(a) / float(b)):
        raise MeasureError(f"{a!r} cannot be divided by {b!r}")
    return float(a) / float(b)


def reduce(sequence: Sequence[Value], how: str) -> Value:
    """One value made of a sequence; `how` is one of the schema's words except `all`. Raises MeasureError."""
    if how == "first":
        return sequence[0]
    if how == "last":
        return sequence[-1]
    if how == "distinct":
        return len({_hashable(value) for value in sequence})
    numbers = [float(value) for value in sequence if isinstance(value, int | float)]
    if len(numbers) != len(sequence):
        raise MeasureError(f"{how} needs numbers, found {_short(list(sequence))}")
    if how == "largest_drop":
        return max((a - b for a, b in zip(numbers, numbers[1:], strict=False)), default=0.0)
    if how == "mean":
        try:
            return math.fsum(numbers) / len(numbers)
        except OverflowError as error:
            raise MeasureError(
                f"the mean of {_short(list(sequence))} cannot be computed: {error}"
            ) from error
    return max(numbers) if how == "max" else min(numbers)


def is_finite(value: Any) -> bool:
    """Whether a metric is usable: a finite number, a boolean, a text that stands for no NaN, or a list of them."""
    if isinstance(value, list):
        return all(is_finite(element) for element in value)
    if isinstance(value, int | float):
        return abs(value) <= sys.float_info.max
    return isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity")


def _remedy(metric: str, missing: Sequence[int], chosen: Sequence[Record]) -> str:
    """What to do about a metric that these of the records lack."""
    if len(missing) < len(chosen):
        return f", {len(missing)} of {len(chosen)} lack it: add `where`, which picks those that have it"
    every = " and in all others" if len(chosen) > 1 else ""
    return every + near(metric, chosen[0])


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _scalar(value: Any, metric: str) -> Value:
    if isinstance(value, int | float | str):
        return value
    hint = "; name an element by `index`" if isinstance(value, list) else ""
    raise MeasureError(
        f"metric {metric!r} is {_short(value)}, expected one value in each record{hint}"
    )


def _words(where: Mapping[str, Any]) -> str:
    return " and ".join(f"{key} = {value!r}" for key, value in where.items()) or "any field"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:60] + "…"
