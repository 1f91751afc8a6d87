"""What the cells of a study say together: shares of labels, the best settings, what explains the
harm. Pure.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from runner.field_types import Scalar
from runner.studies.cells import LABELS, Cell, best, by_point
from runner.studies.definition import Point, Study

ALL = "all"


class LabelShares(Struct, frozen=True):
    """How many cells have each label; `name` is a value of the parameter `shown.rows`, or ALL."""

    name: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """The number of cells."""
        return sum(self.counts.values())


class BestPair(Struct, frozen=True):
    """The two programs at one point, each at its best setting: the cells, and what the bug gains
    (below 0: it costs).

    `ratio` is the best setting of the buggy program over that of the fixed one, NaN where the
    latter is 0. `edge`: one of them is at an end of the settings that were tried, so that a better
    one may lie beyond.
    """

    point: Point
    fixed: Cell
    buggy: Cell
    gain: float
    ratio: float
    edge: bool


class Explained(Struct, frozen=True):
    """The share of the variance of the harm that some factors explain: adjusted R squared of the
    means of groups.
    """

    factors: tuple[str, ...]
    share: float


def row_name(study: Study, cell: Cell) -> str:
    """The value of the parameter `shown.rows`."""
    return str(cell.point.values[study.written.axes.index(study.written.shown.rows)])


def row_names(study: Study, cells: Iterable[Cell]) -> list[str]:
    """The values of the parameter `shown.rows`, in the order of the study's points."""
    present = {row_name(study, cell) for cell in cells}
    index = study.written.axes.index(study.written.shown.rows)
    names = dict.fromkeys(str(point.values[index]) for point in study.points)
    return [name for name in names if name in present]


def shares(study: Study, cells: Sequence[Cell]) -> list[LabelShares]:
    """The labels of the cells by the parameter `shown.rows`, and of all of them last."""
    rows = []
    for name in row_names(study, cells):
        row_cells = [cell for cell in cells if row_name(study, cell) == name]
        rows.append(LabelShares(name, _count_labels(row_cells)))
    return [*rows, LabelShares(ALL, _count_labels(cells))]


def _count_labels(cells: Iterable[Cell]) -> dict[str, int]:
    counts = Counter(cell.label for cell in cells)
    return {label: counts[label] for label in LABELS}


def pairs(cells: Sequence[Cell]) -> list[BestPair]:
    """The pair of each point at which both programs have a setting without a number that is not
    finite.
    """
    result = []
    for point, row in by_point(cells).items():
        fixed, buggy = best(row, "fixed"), best(row, "buggy")
        if fixed and buggy:
            ends = (row[0].setting, row[-1].setting)
            gain = fixed.sign * (buggy.buggy.mean - fixed.fixed.mean)
            ratio = buggy.setting / fixed.setting if fixed.setting else math.nan
            is_at_the_edge = fixed.setting in ends or buggy.setting in ends
            result.append(BestPair(point, fixed, buggy, gain, ratio, is_at_the_edge))
    return result


def explained(study: Study, cells: Iterable[Cell]) -> list[Explained]:
    """What explains the gain: each factor by itself, then the rows with the setting, then these
    with each other one.
    """
    finite = [cell for cell in cells if math.isfinite(cell.gain)]
    gains = [cell.gain for cell in finite]
    factors = _factors(study, finite)
    explanations = []
    for names in _sets_of_factors(study, factors):
        columns = [factors[name] for name in names]
        explanations.append(Explained(names, _adjusted(gains, columns)))
    return [item for item in explanations if math.isfinite(item.share)]


def _factors(study: Study, cells: Sequence[Cell]) -> dict[str, list[Scalar]]:
    """The values of each parameter and of the setting in these cells; factors that do not vary are
    left out.
    """
    factors: dict[str, list[Scalar]] = {}
    for index, name in enumerate(study.written.axes):
        factors[name] = [cell.point.values[index] for cell in cells]
    factors[study.written.setting] = [cell.place for cell in cells]
    return {name: values for name, values in factors.items() if len(set(values)) > 1}


def _sets_of_factors(study: Study, varied: Iterable[str]) -> list[tuple[str, ...]]:
    sets: list[tuple[str, ...]] = [(name,) for name in varied]
    joint = [name for name in (study.written.shown.rows, study.written.setting) if name in varied]
    if len(joint) == 2:
        sets.append(tuple(joint))
        sets += [(*joint, name) for name in varied if name not in joint]
    return sets


def _adjusted(values: Sequence[float], columns: Sequence[Sequence[object]]) -> float:
    """Adjusted R squared of the means of the groups that the columns make; NaN where there are too
    few values.
    """
    groups: dict[tuple[object, ...], list[float]] = {}
    for key, value in zip(zip(*columns, strict=True), values, strict=True):
        groups.setdefault(key, []).append(value)
    free, total = len(values) - len(groups), _squares(values)
    if free <= 0 or total == 0:
        return math.nan
    within = math.fsum(map(_squares, groups.values()))
    return 1 - (within / free) / (total / (len(values) - 1))


def _squares(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)
