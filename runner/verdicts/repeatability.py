"""Repeatability: one verdict from the records of all repeats of a case, and how it varied. Pure functions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.bugs.case import Case
from runner.results.record import RunRecord
from runner.verdicts.drift import drift
from runner.verdicts.verdict import INVALID, NOT_REPRODUCED, Verdict, verify


@dataclass(frozen=True)
class Repeatability:
    """`said` counts the repeats by their verdict; `spread` is the largest distance of any metric between repeats."""

    said: Mapping[str, int]
    spread: float | None

    @property
    def label(self) -> str:
        """`stable` if all repeats have the same verdict, else `flaky`."""
        return "stable" if len(self.said) == 1 else "flaky"

    @property
    def text(self) -> str:
        """For example `REPRODUCED 4 of 5 times, NOT REPRODUCED 1`."""
        (first, times), *others = self.said.items()
        rest = "".join(f", {verdict} {count}" for verdict, count in others)
        return f"{first} {times} of {sum(self.said.values())} times{rest}"


def judge(case: Case, records: Sequence[RunRecord]) -> tuple[Verdict, Repeatability | None]:
    """The verdict on all repeats, and how they varied (None for a single one). A flaky case is not REPRODUCED."""
    repeats = {
        number: [record for record in records if record.repeat == number]
        for number in _numbers(records)
    }
    verdicts = [verify(case, group) for group in repeats.values()]
    if len(verdicts) == 1:
        return verdicts[0], None
    distances = [drift(case, group, repeats[1]) for group in repeats.values()]
    spread = max((distance for distance in distances if distance is not None), default=None)
    varied = Repeatability(dict(Counter(map(_said, verdicts)).most_common()), spread)
    if varied.label == "stable":
        return verdicts[0], varied
    worst = next((verdict for verdict in verdicts if verdict.invalid), None)
    worst = worst or next(verdict for verdict in verdicts if verdict.failed)
    outcome = None if worst.outcome is None else INVALID if worst.invalid else NOT_REPRODUCED
    return Verdict(
        case, outcome, f"flaky: {varied.text}; {worst.reason}", worst.checks, worst.upstream
    ), varied


def _numbers(records: Sequence[RunRecord]) -> list[int]:
    return sorted({record.repeat for record in records}) or [1]


def _said(verdict: Verdict) -> str:
    return verdict.outcome or ("some checks fail" if verdict.failed else "all checks hold")
