"""The outcome of a case: its verdict, and what is behind it."""

from dataclasses import dataclass

from runner.bugs.bug import Target
from runner.plurals import counted
from runner.results.record import (
    CheckedStatement,
    JudgedRun,
    JudgedUpstream,
    Repeats,
    RunRecord,
    VerdictRecord,
)
from runner.verdicts.repeatability import Repeatability
from runner.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case: its verdict, its run records, and their distance from the expected ones.

    `repeatability` is None where every run was executed once.
    """

    target: Target
    verdict: Verdict
    records: tuple[RunRecord, ...]
    drift: float | None
    injected: bool = False
    repeatability: Repeatability | None = None

    def __repr__(self) -> str:
        drift = "" if self.drift is None else f", drift {self.drift:.2g}"
        injected = ", injected" if self.injected else ""
        verdict, runs = self.verdict.outcome or "no verdict", counted(len(self.records), "run")
        return f"Outcome({self.target.case.id!r}, {verdict}{drift}, {runs}{injected})"


def summary(outcome: Outcome) -> VerdictRecord:
    """An outcome as it is written: the verdict, its checks and the keys of the runs behind it."""
    case, verdict, varied = outcome.target.case, outcome.verdict, outcome.repeatability
    upstream = verdict.upstream
    return VerdictRecord(
        bug=case.bug,
        case=case.name,
        benign=case.benign,
        verdict=verdict.outcome,
        injected=outcome.injected,
        environments=tuple(sorted({record.runtime.environment for record in outcome.records})),
        reason=verdict.reason,
        drift=outcome.drift,
        repeats=Repeats(label=varied.label, verdicts=dict(varied.said), spread=varied.spread)
        if varied
        else None,
        upstream=JudgedUpstream(behaves=upstream.behaves, reason=upstream.reason)
        if upstream
        else None,
        checks=tuple(
            CheckedStatement(
                statement=check.expectation.statement,
                seed=check.seed,
                holds=check.holds,
                explanation=check.explanation,
            )
            for check in verdict.checks
        ),
        runs=tuple(
            JudgedRun(
                variant=run.variant,
                seed=run.seed,
                repeat=run.repeat,
                status=run.status,
                key=run.key,
            )
            for run in outcome.records
        ),
    )
