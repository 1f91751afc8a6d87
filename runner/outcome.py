"""What became of a case? Its verdict with what is behind it; the exit status, and what becomes expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.errors import UsageError
from runner.model import Target
from runner.records import RunRecord, encode, expected_path, finite, write_json
from runner.repeatability import Repeatability
from runner.verification import REPRODUCED, Verdict


@dataclass(frozen=True)
class Outcome:
    """What became of one case: its verdict, its run records, and their distance from the expected ones.

    `repeatability` is None where every run was done once.
    """

    target: Target
    verdict: Verdict
    records: tuple[RunRecord, ...]
    drift: float | None
    injected: bool = False
    repeatability: Repeatability | None = None


def exit_status(outcomes: Sequence[Outcome]) -> int:
    """0 if all is as expected, 1 if an expectation does not hold, 2 if something is INVALID."""
    if any(outcome.verdict.invalid for outcome in outcomes):
        return 2
    return 1 if any(outcome.verdict.failed for outcome in outcomes) else 0


def save_expected(outcomes: Sequence[Outcome]) -> list[Path]:
    """Make the records of whole, REPRODUCED cases the expected ones; raises UsageError if a case is anything else."""
    for outcome in outcomes:
        _refuse_unexpected(outcome)
    written = []
    for outcome in outcomes:
        records = [record for record in outcome.records if record.repeat == 1]
        paths = [expected_path(outcome.target.bug, record) for record in records]
        for path, record in zip(paths, records, strict=True):
            write_json(path, encode(record))
        for stale in set(paths[0].parent.glob("*-seed*.json")) - set(paths):
            stale.unlink()
        written += paths
    return written


def _refuse_unexpected(outcome: Outcome) -> None:
    case, records = outcome.target.case, outcome.records
    if outcome.injected or outcome.verdict.outcome != REPRODUCED or not all(record.pinned for record in records):
        raise UsageError(f"{case.id} is not REPRODUCED as reported, in a pinned environment: expected/ stays as it is")
    if {record.seed for record in records} != set(case.seeds):
        raise UsageError(f"{case.id} was not run with its own seeds: expected/ stays as it is; leave out --seeds")
    if any((record.revision or "").endswith("-dirty") for record in records):
        raise UsageError(f"{case.id} was run from files that are not committed: commit, then run with --force")
    elsewhere = {r.environment for r in records if r.environment != case.variants[r.variant].environment}
    if elsewhere:
        raise UsageError(f"{case.id} was run in {', '.join(elsewhere)}: expected/ stays as it is; see `versions`")


def summary(outcome: Outcome) -> dict[str, object]:
    """An outcome for JSON: the verdict, its checks and the keys of the runs behind it."""
    verdict, repeats = outcome.verdict, outcome.repeatability
    return {
        "bug": outcome.target.bug.id,
        "case": outcome.target.case.name,
        "benign": outcome.target.case.benign,
        "verdict": verdict.outcome,
        "injected": outcome.injected,
        "environments": sorted({record.environment for record in outcome.records}),
        "reason": verdict.reason,
        "drift": finite(outcome.drift),
        "repeats": repeats
        and {"label": repeats.label, "verdicts": dict(repeats.said), "spread": finite(repeats.spread)},
        "checks": [
            {
                "statement": check.expectation.statement,
                "seed": check.seed,
                "holds": check.holds,
                "explanation": check.explanation,
            }
            for check in verdict.checks
        ],
        "runs": [
            {"variant": r.variant, "seed": r.seed, "repeat": r.repeat, "status": r.status, "key": r.key}
            for r in outcome.records
        ],
    }
