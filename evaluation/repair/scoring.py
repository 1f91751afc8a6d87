"""Scores of repairers: how many of all tasks each of them mends. Pure functions."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import median

from msgspec import Struct

from evaluation.repair.grading import Grade
from evaluation.scoring.intervals import Interval, bracketed, clustered

# Whether a patch changes a line near the fault; None where the fault is in no script.
AT_SITE = {True: "yes", False: "no", None: "-"}


class RepairScore(Struct, frozen=True):
    """The score of one model. Intervals are at 95 %, by families of bugs.

    `tasks` are all tasks of the key: one without a patch counts as not mended. `patches` were
    graded. `fixed`: patches that are FIXED. `same`: patches that are FIXED, and with each seed that
    counts record the numbers of the fixed twin. `varied`: patches that do so with other parameters,
    too; None where none was tried. `at_site`: of the FIXED patches whose fault is in
    their script (`located`), how many change a line near it. `changed` and `real` are the medians
    of the lines that FIXED patches and the real fixes of their cases change.
    """

    model: str
    patches: int
    tasks: int
    fixed: int
    fixed_interval: Interval
    same: int
    same_interval: Interval
    varied: int | None
    at_site: int
    located: int
    changed: float | None
    real: float | None


def score_repairs(grades: Iterable[Grade], families: Mapping[str, str]) -> list[RepairScore]:
    """The score of each model, in the order of their names; `families` has the family of each case
    of the key.
    """
    by_model: dict[str, list[Grade]] = {}
    for item in grades:
        by_model.setdefault(item.model, []).append(item)
    return [_score(model, by_model[model], families) for model in sorted(by_model)]


def _score(model: str, grades: Sequence[Grade], families: Mapping[str, str]) -> RepairScore:
    fixed = [item for item in grades if item.outcome == "FIXED"]
    same = [item for item in fixed if item.is_same]
    varied = [item.varied for item in same if item.varied is not None]
    return RepairScore(
        model=model,
        patches=len(grades),
        tasks=len(families),
        fixed=len(fixed),
        fixed_interval=_interval({item.case for item in fixed}, families),
        same=len(same),
        same_interval=_interval({item.case for item in same}, families),
        varied=sum(item.is_same for item in varied) if varied else None,
        at_site=sum(item.at_site is True for item in fixed),
        located=sum(item.at_site is not None for item in fixed),
        changed=median(item.changed for item in fixed) if fixed else None,
        real=median(item.real for item in fixed) if fixed else None,
    )


def _interval(counted: Collection[str], families: Mapping[str, str]) -> Interval:
    """The interval of the share of cases that count, with families as clusters."""
    counts = dict.fromkeys(families.values(), 0)
    sizes = dict.fromkeys(families.values(), 0)
    for case, family in families.items():
        counts[family] += case in counted
        sizes[family] += 1
    return clustered([*counts.values()], [*sizes.values()])


ROW: Mapping[str, Callable[[RepairScore], str]] = {
    "MODEL": lambda score: score.model,
    "PATCHES": lambda score: f"{score.patches}/{score.tasks}",
    "FIXED": lambda score: f"{score.fixed}/{score.tasks}{bracketed(score.fixed_interval)}",
    "SAME": lambda score: f"{score.same}/{score.tasks}{bracketed(score.same_interval)}",
    "VARIED": lambda score: "-" if score.varied is None else f"{score.varied}/{score.tasks}",
    "SITE": lambda score: f"{score.at_site}/{score.located}",
    "LINES": lambda score: _lines(score),
}


def score_row(score: RepairScore) -> tuple[str, ...]:
    """The columns of a score, in words."""
    return tuple(column(score) for column in ROW.values())


def _lines(score: RepairScore) -> str:
    if score.changed is None or score.real is None:
        return "-"
    return f"{score.changed:g} ({score.real:g})"
