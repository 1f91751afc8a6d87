"""The outcome of a case: its verdict, and what is behind it."""

from dataclasses import dataclass

from runner.bugs.bug import Target
from runner.expectations.checks import ExpectationCheck
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
    """The outcome of one case: its verdict, its run records, and their distance from the expected
    ones.

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
    environments = {record.runtime.environment for record in outcome.records}
    repeats, upstream = None, None
    if varied:
        repeats = Repeats(
            label=varied.label, verdicts=dict(varied.verdict_counts), spread=varied.spread
        )
    if verdict.upstream:
        behaves, reason = verdict.upstream.behaves, verdict.upstream.reason
        upstream = JudgedUpstream(behaves=behaves, reason=reason)
    return VerdictRecord(
        bug=case.bug,
        case=case.name,
        benign=case.benign,
        verdict=verdict.outcome,
        injected=outcome.injected,
        environments=tuple(sorted(environments)),
        reason=verdict.reason,
        drift=outcome.drift,
        repeats=repeats,
        upstream=upstream,
        checks=tuple(map(_checked_statement, verdict.checks)),
        runs=tuple(map(_judged_run, outcome.records)),
    )


def _checked_statement(check: ExpectationCheck) -> CheckedStatement:
    return CheckedStatement(
        statement=check.expectation.statement,
        seed=check.seed,
        holds=check.holds,
        explanation=check.explanation,
    )


def _judged_run(record: RunRecord) -> JudgedRun:
    return JudgedRun(
        variant=record.variant,
        seed=record.seed,
        repeat=record.repeat,
        status=record.status,
        key=record.key,
    )
