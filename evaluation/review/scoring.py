"""Scores of reviewers: how well their suspicion tells buggy programs from correct ones, and whether
they name the place of the fault.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from msgspec import Struct

from evaluation.model import CONTROL, Alarm
from evaluation.review.answers import ReviewAnswer
from evaluation.review.tasks import KeyEntry, ReviewKey
from evaluation.scoring.intervals import Interval, bracketed, clustered
from evaluation.scoring.outcomes import diagnosis

# From which suspicion on a program counts as accused: declared before any answer was seen.
THRESHOLD = 50.0
RESAMPLES, SEED = 1000, 0


class ReviewScore(Struct, frozen=True):
    """The scores of one model. Intervals are at 95 %, by families of bugs.

    `paired`: cases whose buggy program is accused and whose fixed twin is not. `auroc`: how often a
    buggy program is suspected more than a correct one. `ordered`: the same within pairs of twins.
    `top1`, `top3`: buggy programs that are accused, whose site is among the first suspects, of all.
    `accused_controls`: correct programs of the controls that are accused. `agreement`: programs of
    several samples on which all of these are on one side of the threshold.
    """

    model: str
    rewriting: str
    model_date: str | None
    threshold: float
    answered: int
    tasks: int
    samples: int
    paired: int
    pairs: int
    paired_interval: Interval
    auroc: float | None
    auroc_interval: Interval
    ordered: float | None
    top1: int
    top3: int
    buggy: int
    accused_fixed: int
    fixed: int
    accused_controls: int
    controls: int
    agreement: float | None
    tokens: float | None
    cost: float | None


@dataclass(frozen=True)
class Judged:
    """A task with the answers of one model to it."""

    entry: KeyEntry
    answers: tuple[ReviewAnswer, ...]

    @property
    def suspicion(self) -> float:
        """The mean over the samples."""
        return fmean(answer.suspicion for answer in self.answers)

    @property
    def case(self) -> str:
        return f"{self.entry.bug}/{self.entry.case}"


def score_reviews(
    key: ReviewKey, answers: Iterable[ReviewAnswer], threshold: float = THRESHOLD
) -> list[ReviewScore]:
    """The scores of each model, in the order of their names."""
    by_model: dict[str, list[ReviewAnswer]] = {}
    for answer in answers:
        by_model.setdefault(answer.model, []).append(answer)
    return [_score(key, model, by_model[model], threshold) for model in sorted(by_model)]


def _score(
    key: ReviewKey, model: str, answers: Sequence[ReviewAnswer], threshold: float
) -> ReviewScore:
    judged = _judge(key, answers)
    buggy, fixed, controls = (_with_kind(judged, kind) for kind in ("buggy", "fixed", CONTROL))
    pairs = _pairs(buggy, fixed)
    hits = [first.suspicion >= threshold > second.suspicion for first, second in pairs]
    tokens = [answer.tokens for answer in answers if answer.tokens is not None]
    costs = [answer.cost for answer in answers if answer.cost is not None]
    return ReviewScore(
        model=model,
        rewriting=key.rewriting or "public",
        model_date=max((answer.model_date or "" for answer in answers), default="") or None,
        threshold=threshold,
        answered=len(judged),
        tasks=len(key.tasks),
        samples=len(answers),
        paired=sum(hits),
        pairs=len(pairs),
        paired_interval=_interval(pairs, hits),
        auroc=auroc([item.suspicion for item in buggy], _suspicions([*fixed, *controls])),
        auroc_interval=_resampled(judged),
        ordered=_ordered(pairs),
        top1=sum(_finds(item, threshold, 1) for item in buggy),
        top3=sum(_finds(item, threshold, 3) for item in buggy),
        buggy=len(buggy),
        accused_fixed=_accused(fixed, threshold),
        fixed=len(fixed),
        accused_controls=_accused(controls, threshold),
        controls=len(controls),
        agreement=_agreement(judged, threshold),
        tokens=sum(tokens) if tokens else None,
        cost=sum(costs) if costs else None,
    )


def _judge(key: ReviewKey, answers: Iterable[ReviewAnswer]) -> list[Judged]:
    by_task: dict[str, list[ReviewAnswer]] = {}
    for answer in answers:
        by_task.setdefault(answer.id, []).append(answer)
    return [Judged(key.tasks[name], tuple(by_task[name])) for name in key.tasks if name in by_task]


def _pairs(buggy: Iterable[Judged], fixed: Iterable[Judged]) -> list[tuple[Judged, Judged]]:
    """The twins of which both were answered."""
    twins = {item.case: item for item in fixed}
    return [(item, twins[item.case]) for item in buggy if item.case in twins]


def _interval(pairs: Sequence[tuple[Judged, Judged]], hits: Sequence[bool]) -> Interval:
    """The interval of the share of hits, with families as clusters."""
    counts: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for (first, _), hit in zip(pairs, hits, strict=True):
        family = first.entry.family
        counts[family] = counts.get(family, 0) + hit
        sizes[family] = sizes.get(family, 0) + 1
    return clustered(list(counts.values()), list(sizes.values()))


def auroc(wrong: Sequence[float], right: Sequence[float]) -> float | None:
    """How often one of the first is larger than one of the second, a tie counting half; None where
    there are none of one kind.
    """
    if not wrong or not right:
        return None
    wins = sum(_wins(first, second) for first in wrong for second in right)
    return wins / (len(wrong) * len(right))


def _wins(first: float, second: float) -> float:
    return 0.5 if first == second else float(first > second)


def _suspicions(judged: Iterable[Judged]) -> list[float]:
    return [item.suspicion for item in judged]


def _resampled(judged: Sequence[Judged]) -> Interval:
    """The interval of the AUROC, from samples of families with replacement."""
    by_family: dict[str, list[Judged]] = {}
    for item in judged:
        by_family.setdefault(item.entry.family, []).append(item)
    families, values = list(by_family), []
    generator = random.Random(SEED)  # noqa: S311
    for _ in range(RESAMPLES):
        drawn = generator.choices(families, k=len(families))
        sample = [item for family in drawn for item in by_family[family]]
        wrong = _suspicions(item for item in sample if item.entry.kind == "buggy")
        right = _suspicions(item for item in sample if item.entry.kind != "buggy")
        value = auroc(wrong, right)
        if value is not None:
            values.append(value)
    if not values:
        return None, None
    values.sort()
    return values[int(0.025 * len(values))], values[min(int(0.975 * len(values)), len(values) - 1)]


def _ordered(pairs: Sequence[tuple[Judged, Judged]]) -> float | None:
    wins = [_wins(first.suspicion, second.suspicion) for first, second in pairs]
    return fmean(wins) if wins else None


def _finds(item: Judged, threshold: float, top: int) -> bool:
    """Whether the program is accused, and most samples name its site among the first suspects."""
    if item.suspicion < threshold:
        return False
    return fmean(_names_site(answer, item.entry, top) for answer in item.answers) > 0.5


def _names_site(answer: ReviewAnswer, entry: KeyEntry, top: int) -> bool:
    assert entry.site is not None
    alarms = [
        Alarm("suspect", "", "error", line=suspect.line, file=suspect.file, api=suspect.api)
        for suspect in answer.suspects[:top]
    ]
    return any(diagnosis(alarm, entry.site) != "no" for alarm in alarms)


def _accused(judged: Iterable[Judged], threshold: float) -> int:
    return sum(item.suspicion >= threshold for item in judged)


def _agreement(judged: Iterable[Judged], threshold: float) -> float | None:
    several = [item for item in judged if len(item.answers) > 1]
    return fmean(_agrees(item, threshold) for item in several) if several else None


def _agrees(item: Judged, threshold: float) -> bool:
    """Whether all samples are on one side of the threshold."""
    return len({answer.suspicion >= threshold for answer in item.answers}) == 1


def _with_kind(judged: Iterable[Judged], kind: str) -> list[Judged]:
    return [item for item in judged if item.entry.kind == kind]


ROW: Mapping[str, Callable[[ReviewScore], str]] = {
    "MODEL": lambda score: score.model,
    "TEXT": lambda score: score.rewriting,
    "ANSWERED": lambda score: f"{score.answered}/{score.tasks}",
    "PAIRED": lambda score: f"{score.paired}/{score.pairs}{bracketed(score.paired_interval)}",
    "AUROC": lambda score: f"{_number(score.auroc)}{bracketed(score.auroc_interval)}",
    "TOP1": lambda score: f"{score.top1}/{score.buggy}",
    "TOP3": lambda score: f"{score.top3}/{score.buggy}",
    "FIXED": lambda score: f"{score.accused_fixed}/{score.fixed}",
    "CONTROLS": lambda score: f"{score.accused_controls}/{score.controls}",
    "AGREE": lambda score: _number(score.agreement),
    "COST": lambda score: _number(score.cost),
}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
