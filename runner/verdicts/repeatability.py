"""Repeatability: one verdict from the records of all repeats of a case, and how it varied.

Pure functions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.bugs.case import Case
from runner.results.record import RunRecord
from runner.verdicts.drift import drift
from runner.verdicts.verdict import INVALID, NOT_REPRODUCED, Verdict, verify


@dataclass(frozen=True)
class Repeatability:
    """`verdict_counts` counts the repeats by their verdict; `spread` is the largest distance of any
    metric between repeats.
    """

    verdict_counts: Mapping[str, int]
    spread: float | None

    @property
    def label(self) -> str:
        """`stable` if all repeats have the same verdict, else `flaky`."""
        return "stable" if len(self.verdict_counts) == 1 else "flaky"

    @property
    def text(self) -> str:
        """For example `REPRODUCED 4 of 5 times, NOT REPRODUCED 1`."""
        (first, times), *more = self.verdict_counts.items()
        suffix = "".join(f", {verdict} {count}" for verdict, count in more)
        return f"{first} {times} of {sum(self.verdict_counts.values())} times{suffix}"


def judge(case: Case, records: Sequence[RunRecord]) -> tuple[Verdict, Repeatability | None]:
    """The verdict on all repeats, and how they varied (None for a single one).

    A flaky case is not REPRODUCED.
    """
    repeats: dict[int, list[RunRecord]] = {}
    for record in records:
        repeats.setdefault(record.repeat, []).append(record)
    repeats = dict(sorted(repeats.items())) or {1: []}
    verdicts = [verify(case, group) for group in repeats.values()]
    if len(verdicts) == 1:
        return verdicts[0], None
    distances = [drift(case, group, repeats[1]) for group in repeats.values()]
    spread = max((distance for distance in distances if distance is not None), default=None)
    varied = Repeatability(dict(Counter(map(_summarise, verdicts)).most_common()), spread)
    if varied.label == "stable":
        return verdicts[0], varied
    invalid = [verdict for verdict in verdicts if verdict.invalid]
    failed = [verdict for verdict in verdicts if verdict.failed]
    worst = [*invalid, *failed][0]
    outcome = worst.outcome
    if outcome is not None:
        outcome = INVALID if worst.invalid else NOT_REPRODUCED
    reason = f"flaky: {varied.text}; {worst.reason}"
    return Verdict(case, outcome, reason, worst.checks, worst.upstream), varied


def _summarise(verdict: Verdict) -> str:
    return verdict.outcome or ("some checks fail" if verdict.failed else "all checks hold")
