"""What became of a case? Its verdict with what is behind it; the exit status, and what becomes expected."""

from dataclasses import dataclass

from runner.bugs.model import Target
from runner.files.atomic import finite
from runner.results.record import RunRecord
from runner.verdicts.repeatability import Repeatability
from runner.verdicts.verdict import Verdict


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
