"""Counts the iterations of both programs of a bug, and compares their parameters after each one.

Both run once more, with a monitor that writes down a digest of all parameters that optimizers have.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.catalog import detectors
from evaluation.model import Alarm
from evaluation.records import CheckRecord
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from runner.session.session import Session

# The folder in a results folder in which the answers of the monitor are kept.
FOLDER = "iterations"
MONITOR = Path(__file__).parent / "parameter-digests"
# Hexadecimal digits of a digest: the monitor's.
DIGITS = 4
# Process -> digests: before the first iteration, then after each one.
Digests = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Iterations:
    """The iterations of a case with one seed: of `buggy`, of `fixed`, and the first one after which
    their parameters differ.

    `differ_from` is 0 where they differ before the first iteration, and None where they never do.
    `problem` says why nothing could be counted.
    """

    case: str
    seed: int
    trigger: int
    buggy: int | None = None
    fixed: int | None = None
    differ_from: int | None = None
    problem: str | None = None


def count(bugs: Sequence[str], session: Session) -> list[Iterations]:
    """Run the programs of these bugs or cases, and count; raises UsageError or CatalogError.

    What has run before, with the same scripts, is not run again.
    """
    options = CampaignOptions(
        detectors=[detectors.read(MONITOR)],
        bugs=bugs,
        controls="none",
        overhead_on=None,
        folder=FOLDER,
    )
    # A kept answer may be older than a correction of the trigger.
    present = {
        target.case.id: target.case.truth.iteration for target in session.catalog.select(bugs)
    }
    result = campaign.run(options, session)
    broken = [
        Iterations(
            program.run.case.id,
            program.run.seed,
            program.run.case.truth.iteration,
            problem=f"{program.kind} does not run by itself",
        )
        for program in result.broken
    ]
    rows = [*counted(result.checks), *broken]
    return [replace(row, trigger=present[row.case]) for row in rows]


def counted(records: Iterable[CheckRecord]) -> list[Iterations]:
    """The iterations by the records of both programs, in the order of cases and seeds."""
    pairs: dict[tuple[str, int], dict[str, CheckRecord]] = defaultdict(dict)
    for record in records:
        pairs[f"{record.bug}/{record.case}", record.seed][record.kind] = record
    return [
        _compare(case, seed, pair)
        for (case, seed), pair in sorted(pairs.items())
        if {"buggy", "fixed"} <= set(pair)
    ]


def _compare(case: str, seed: int, pair: Mapping[str, CheckRecord]) -> Iterations:
    buggy, fixed = pair["buggy"], pair["fixed"]
    trigger = buggy.trigger
    for record in (buggy, fixed):
        if record.status != "ok":
            problem = f"{record.kind}: {record.status}: {record.reason}"
            return Iterations(case, seed, trigger, problem=problem)
    buggy_digests, fixed_digests = digests(buggy.alarms), digests(fixed.alarms)
    return Iterations(
        case,
        seed,
        trigger,
        _length(buggy_digests),
        _length(fixed_digests),
        first_difference(buggy_digests, fixed_digests),
    )


def digests(alarms: Iterable[Alarm]) -> Digests:
    """What the monitor wrote down, by process."""
    texts: dict[str, str] = defaultdict(str)
    # What was there before the first iteration comes first: "start" is before "steps".
    for alarm in sorted(alarms, key=lambda alarm: (alarm.code, alarm.iteration or 0)):
        texts[alarm.code.partition("-")[2]] += alarm.message
    return {process: _split(text) for process, text in texts.items()}


def _split(text: str) -> list[str]:
    return [text[start : start + DIGITS] for start in range(0, len(text), DIGITS)]


def first_difference(buggy: Digests, fixed: Digests) -> int | None:
    """The first iteration after which some process of both has other parameters;
    one that the shorter program has no more, where all are alike before.
    """
    places = [_first_place(buggy[name], fixed[name]) for name in buggy if name in fixed]
    return min((place for place in places if place is not None), default=None)


def _first_place(left: Sequence[str], right: Sequence[str]) -> int | None:
    for place, (mine, theirs) in enumerate(zip(left, right, strict=False)):
        if mine != theirs:
            return place
    return None if len(left) == len(right) else min(len(left), len(right))


def _length(by_process: Digests) -> int:
    """The iterations of the process that has most."""
    return max((len(texts) - 1 for texts in by_process.values()), default=0)
