"""Does a patched program record the numbers of the fixed twin? Pure functions."""

import math
from collections.abc import Collection, Sequence

from runner.field_types import Record
from runner.files.atomic import finite

# How near a patched program's numbers have to be to the fixed twin's.
NEAR = 1e-3
# What the order of sums may change in numbers of 32 bits: some units in the last place (1.2e-7).
ROUNDING = 1e-6


def first_difference(
    patched: Sequence[Record],
    fixed: Sequence[Record],
    volatile: Collection[str] = (),
    near: float = NEAR,
) -> str | None:
    """What differs first, in words: the number of records, or a metric that is not volatile. None
    where all numbers are as near as `near`, by their ratio or their difference.
    """
    if len(patched) != len(fixed):
        return f"it has {len(patched)} records, the fixed one {len(fixed)}"
    for measured, wanted in zip(patched, fixed, strict=True):
        name = _different_metric(measured, wanted, volatile, near)
        if name:
            return f"{name} is {measured.get(name)}, and {wanted.get(name)} in the fixed program"
    return None


def _different_metric(
    measured: Record, wanted: Record, volatile: Collection[str], near: float
) -> str | None:
    names = dict.fromkeys([*wanted, *measured])
    for name in names:
        if name not in volatile and not _is_alike(measured.get(name), wanted.get(name), near):
            return name
    return None


def _is_alike(measured: object, wanted: object, near: float) -> bool:
    # NaN and infinities become words, which equal themselves.
    number, twin = finite(measured), finite(wanted)
    if isinstance(number, int | float) and isinstance(twin, int | float):
        return math.isclose(number, twin, rel_tol=near, abs_tol=near)
    if isinstance(number, list) and isinstance(twin, list):
        pairs = zip(number, twin, strict=False)
        return len(number) == len(twin) and all(_is_alike(*pair, near) for pair in pairs)
    return bool(number == twin)
