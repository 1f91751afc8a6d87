"""Whole runs: all the records that a case says, each of them once. Pure functions."""

from collections.abc import Mapping, Sequence

from runner.bugs.case import Case
from runner.bugs.figures import Plot
from runner.expectations.series import matches_where
from runner.field_types import Record, Scalar
from runner.results.record import RunRecord


def flaw(case: Case, record: RunRecord) -> str | None:
    """Why a run cannot be judged: it did not end as it should, or is not whole; None where it can
    be.
    """
    if not record.ok:
        return f"{record.status}: {record.reason}"
    lack = not_whole(case, record.variant, record.metrics)
    return f"not whole: {lack}" if lack else None


def numbers(case: Case, variant: str) -> tuple[int, ...]:
    """The numbers of records that a whole run of the variant may have, its own first; empty where
    the case says none.

    The other variant's number is among them: what the buggy script does in a release without the
    fault, or the fixed one in its place, is for the expectations to judge.
    """
    variants = case.program.variants
    number = variants[variant].records
    other_numbers = [
        other.records for other in variants.values() if other.records not in (None, number)
    ]
    return (
        ()
        if number is None
        else (number, *(other_number for other_number in other_numbers if other_number))
    )


def not_whole(case: Case, variant: str, metrics: Sequence[Record]) -> str | None:
    """Why these are not the records of a whole run; None where they are, or where the case has no
    `records`.
    """
    allowed = numbers(case, variant)
    if not allowed:
        return None
    if len(metrics) not in allowed:
        return f"expected {' or '.join(map(str, allowed))} records, found {len(metrics)}"
    for where, fields in _points(case.plot):
        twice = _twice(metrics, where, fields)
        if twice:
            return f"two records have {twice}"
    return None


def _points(plot: Plot) -> list[tuple[Mapping[str, Scalar], tuple[str, ...]]]:
    """For each curve, or the heat map: which records it shows, and the fields that tell its points
    from each other.
    """
    if plot.heatmap:
        return [({}, (*plot.heatmap.rows, plot.heatmap.columns))]
    lines = [line for panel in plot.panels for line in panel.lines]
    # Most curves of a plot show the same records.
    different = {repr(sorted(line.where.items())): line.where for line in lines}
    return [(where, (plot.x,)) for where in different.values()]


def _twice(
    metrics: Sequence[Record], where: Mapping[str, Scalar], fields: Sequence[str]
) -> str | None:
    """The fields that two of the records have in common, with their values; records without one of
    them are skipped.
    """
    points: set[str] = set()
    for record in metrics:
        if not matches_where(record, where):
            continue
        try:
            # 1, 1.0 and True are different points, though they are equal.
            point = repr([record[name] for name in fields])
        except KeyError:
            continue
        if point in points:
            return ", ".join(f"{name} = {record[name]!r}" for name in fields)
        points.add(point)
    return None
