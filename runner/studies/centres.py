"""Centres: for each point of a study the setting with which the fixed program did best in another
study.
"""

from collections.abc import Mapping, Sequence

from runner.errors import UsageError
from runner.field_types import Scalar
from runner.studies import table
from runner.studies.cells import best, by_point, cells
from runner.studies.definition import Point, Study, load


def centres(study: Study, points: Sequence[Point]) -> Mapping[Point, float]:
    """The centre of each of these points, from the committed table of the study that is named;
    empty where none is.

    Raises UsageError where that table lacks a point, or the study has another grid.
    """
    centre = study.written.centre
    if centre is None:
        return {}
    if centre.study == study.name:
        raise UsageError(f"{study.id}: centre.study is the study itself; name another one")
    other = load(study.bug, centre.study)
    if other.written.axes != study.written.axes or other.written.centre:
        raise UsageError(
            f"{study.id}: centre.study is {centre.study}, whose grid is over "
            f"{', '.join(other.written.axes)}, expected {', '.join(study.written.axes)}, and no "
            "centre of its own"
        )
    settings: dict[tuple[Scalar, ...], float] = {}
    for point, row in by_point(cells(other, table.read(other))).items():
        top = best(row, "fixed")
        if top:
            settings[point.values] = top.setting
    absent = [point for point in points if point.values not in settings]
    if absent:
        again = f"`trainbugs study {other.id} --update-expected`"
        raise UsageError(
            f"{study.id}: {other.path('.csv').name} lacks {len(absent)} of {len(points)} points, "
            f"{absent[0].text} the first; {again} makes it"
        )
    return {point: settings[point.values] for point in points}
