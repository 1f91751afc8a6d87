"""Values of metrics: which are usable, and their differences and ratios."""

import math
import sys
from typing import Any

from runner.errors import MeasureError

Value = float | bool | str


def is_finite(value: Any) -> bool:
    """Whether a metric is usable: a finite number, a boolean, a text that stands for no NaN, or a
    list of them.
    """
    # Most values are floats, and there are many.
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return all(is_finite(element) for element in value)
    if isinstance(value, int):
        return abs(value) <= sys.float_info.max
    return isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity")


def difference(a: Any, b: Any) -> float:
    """a - b; for lists, the largest absolute difference of their elements.

    Raises MeasureError for anything else.
    """
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and a:
        return max(abs(difference(x, y)) for x, y in zip(a, b, strict=True))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return float(a) - float(b)
    raise MeasureError(f"{brief(a)} and {brief(b)} cannot be subtracted")


def ratio(a: Any, b: Any) -> float:
    """a / b; raises MeasureError where that is no finite number."""
    if not (isinstance(a, int | float) and isinstance(b, int | float)):
        hint = "; name an element of the list by `index`" if isinstance(a, list) else ""
        raise MeasureError(f"{brief(a)} cannot be divided by {brief(b)}{hint}")
    if not b or not is_finite(float(a) / float(b)):
        raise MeasureError(f"{a!r} cannot be divided by {b!r}")
    return float(a) / float(b)


def brief(value: Any) -> str:
    """The value as Python writes it, cut off after 60 characters."""
    text = repr(value)
    return text if len(text) < 60 else text[:60] + "…"
