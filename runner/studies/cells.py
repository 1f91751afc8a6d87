"""The cells of a study, each with a label: what the bug does at one point with one setting.

Pure functions.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from runner.studies.definition import Comparison, Point, Study
from runner.studies.table import StudyRow

BENIGN, WORSE, UNSTABLE, BETTER, UNDECIDED = "benign", "worse", "unstable", "better", "undecided"
LABELS = (BENIGN, WORSE, UNSTABLE, BETTER, UNDECIDED)


class Side(Struct, frozen=True):
    """The trainings of one variant in a cell: the metric for each seed, and whether all their
    numbers are finite.
    """

    values: tuple[float, ...] = ()
    finite: bool = True

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        if not self.values:
            return math.nan
        return math.fsum(self.values) / len(self.values)

    @property
    def spread(self) -> float:
        """The range over the seeds."""
        return max(self.values) - min(self.values)

    def is_stable(self, most: float) -> bool:
        """Whether every number is finite, and the seeds differ by no more than that."""
        return self.finite and self.spread <= most


class Cell(Struct, frozen=True, dict=True):
    """A point with one setting.

    `place` is the setting over the point's centre, where the study has centres that are not 0. The
    sides have the same seeds. `sign` is 1 where more of the metric is better, else -1.
    """

    point: Point
    setting: float
    place: float
    fixed: Side
    buggy: Side
    sign: int
    label: str

    @cached_property
    def gain(self) -> float:
        """What the bug gains, mean over the seeds: below 0, where the buggy program is worse."""
        return self.sign * (self.buggy.mean - self.fixed.mean)


def cells(study: Study, rows: Iterable[StudyRow]) -> list[Cell]:
    """The cells of these rows, in the order of the study's points; failed runs are left out, and so
    are their twins.
    """
    grouped: dict[tuple[Point, float], list[StudyRow]] = {}
    for row in rows:
        if row.setting is not None and row.ok:
            grouped.setdefault((row.point, row.setting), []).append(row)
    place = {point: index for index, point in enumerate(study.points)}
    ordered = sorted(grouped, key=lambda key: (place[key[0]], key[1]))
    all_cells = (_cell(study, *key, grouped[key]) for key in ordered)
    return [cell for cell in all_cells if cell.fixed.values]


def _cell(study: Study, point: Point, setting: float, rows: Sequence[StudyRow]) -> Cell:
    comparison = study.written.comparison
    sides = _sides(study, rows)
    fixed, buggy = sides["fixed"], sides.get("buggy", Side())
    sign = 1 if comparison.better == "higher" else -1
    centre = rows[0].centre
    # A centre of 0 has no multiples.
    relative = float(f"{setting / centre:.2g}") if centre else setting
    outcome = UNDECIDED
    if fixed.values and buggy.values:
        outcome = label(fixed, buggy, comparison)
    return Cell(point, setting, relative, fixed, buggy, sign, outcome)


def _sides(study: Study, rows: Sequence[StudyRow]) -> dict[str, Side]:
    """The side of each variant, over the seeds that all variants have."""
    by_variant: dict[str, dict[int, StudyRow]] = {name: {} for name in study.variants}
    for row in rows:
        by_variant[row.variant][row.seed] = row
    seeds = sorted(set.intersection(*map(set, by_variant.values())))
    sides = {}
    for name, by_seed in by_variant.items():
        variant_rows = [by_seed[seed] for seed in seeds]
        sides[name] = _side(variant_rows, study.written.comparison.metric)
    return sides


def _side(rows: Sequence[StudyRow], metric: str) -> Side:
    numbers: list[float] = []
    values: list[float] = []
    for row in rows:
        numbers += [number for number in row.metrics.values() if isinstance(number, int | float)]
        value = row.metrics.get(metric)
        values.append(float(value) if isinstance(value, int | float) else math.nan)
    return Side(tuple(values), all(map(math.isfinite, (*numbers, *values))))


def label(fixed: Side, buggy: Side, comparison: Comparison) -> str:
    """What the bug does there: benign, worse, unstable or better; undecided where the fixed program
    is unstable.
    """
    if not fixed.is_stable(comparison.unstable):
        return UNDECIDED
    if not buggy.is_stable(comparison.unstable):
        return UNSTABLE
    gain = (buggy.mean - fixed.mean) * (1 if comparison.better == "higher" else -1)
    # Values on a grid, like accuracies, may lie on the bound itself.
    if abs(gain) <= comparison.tolerance * (1 + 1e-9):
        return BENIGN
    return BETTER if gain > 0 else WORSE


def by_point(cells: Iterable[Cell]) -> Mapping[Point, list[Cell]]:
    """The cells of each point, with their settings in order."""
    grouped: dict[Point, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(cell.point, []).append(cell)
    return grouped


def best(cells: Sequence[Cell], variant: str) -> Cell | None:
    """The cell of one point in which a variant does best; None where no training of its is finite.

    Of several that are equally good it is the one in their middle, on a logarithmic scale where
    that is possible.
    """
    sides = [(cell, cell.buggy if variant == "buggy" else cell.fixed) for cell in cells]
    finite = [(cell, cell.sign * side.mean) for cell, side in sides if side.values and side.finite]
    if not finite:
        return None
    top = max(value for _, value in finite)
    equal = [cell for cell, value in finite if value >= top - 1e-12]
    return equal[(len(equal) - 1) // 2]


def tuned(cells: Iterable[Cell], comparison: Comparison) -> list[Cell]:
    """The cells in which the fixed program is as good as at its best setting of that point, within
    the tolerance.
    """
    result: list[Cell] = []
    for row in by_point(cells).values():
        top = best(row, "fixed")
        if top is not None:
            result += [cell for cell in row if _is_near(cell, top, comparison.tolerance)]
    return result


def _is_near(cell: Cell, top: Cell, tolerance: float) -> bool:
    loss = cell.sign * (top.fixed.mean - cell.fixed.mean)
    return cell.fixed.finite and loss <= tolerance
