"""Drift: how far the metrics of a run are from its expected record. Pure functions."""

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

from runner.bugs.case import Case
from runner.errors import MeasureError
from runner.expectations.values import difference, is_finite
from runner.field_types import Record
from runner.files.atomic import finite
from runner.results.record import RunRecord


def drift(case: Case, records: Sequence[RunRecord], expected: Sequence[RunRecord]) -> float | None:
    """The largest absolute distance of a metric that is not volatile from the expected record of
    the same run.

    Like is compared with like: a run on a GPU with one on a GPU, by the same torch, with the fault
    put back or not. None where no run has an expected record; infinite where records, their fields
    or their texts differ.
    """
    expected_by_run = {_identify_run(record): record for record in expected}
    distances: list[float] = []
    for record in records:
        expected_record = expected_by_run.get(_identify_run(record))
        if record.ok and expected_record:
            distances.append(
                distance(record.metrics, expected_record.metrics, case.oracle.volatile)
            )
    return max(distances) if distances else None


def _identify_run(record: RunRecord) -> tuple[object, ...]:
    """What a run and its expected record have in common."""
    runtime = record.runtime
    run = (record.variant, record.seed, runtime.kind_of_device)
    # On a CPU the expected records are of the bug's own environment, with which any other one is
    # compared.
    return run if runtime.kind_of_device == "cpu" else (*run, runtime.torch, record.injected)


def distance(a: Sequence[Record], b: Sequence[Record], volatile: frozenset[str]) -> float:
    """The largest distance of a metric that is not volatile; infinite where the records differ in
    more than numbers.
    """
    if len(a) != len(b):
        return math.inf
    distances = (_record_distances(x, y, volatile) for x, y in zip(a, b, strict=True))
    return max(chain.from_iterable(distances), default=0.0)


def _record_distances(a: Record, b: Record, volatile: frozenset[str]) -> list[float]:
    if set(a) != set(b):
        return [math.inf]
    return [_value_distance(a[key], b[key]) for key in a if key not in volatile]


def _value_distance(a: Any, b: Any) -> float:
    a, b = finite(a), finite(b)
    if a == b:
        return 0.0
    if isinstance(a, str) or isinstance(b, str) or not (is_finite(a) and is_finite(b)):
        return math.inf
    try:
        return abs(difference(a, b))
    except MeasureError:
        return math.inf
