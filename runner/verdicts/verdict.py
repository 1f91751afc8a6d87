"""The verdict of a case from its run records: pure functions, which read and write nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from runner.bugs.case import Case
from runner.bugs.program import UPSTREAM, VARIANTS
from runner.expectations.checks import ExpectationCheck, check_seeds
from runner.expectations.expectation import Expectation
from runner.field_types import Record
from runner.plurals import counted
from runner.results.record import RunRecord
from runner.verdicts.complete_runs import flaw

REPRODUCED = "REPRODUCED"
NOT_REPRODUCED = "NOT REPRODUCED"
INVALID = "INVALID"


@dataclass(frozen=True)
class Upstream:
    """Whether the buggy script, in a release with the real fix, behaves as the fixed one does;
    None: undecided.
    """

    behaves: bool | None
    reason: str


@dataclass(frozen=True)
class Verdict:
    """The verdict of a case.

    `outcome` is None where not both variants were run; then the checks are all there is.
    `upstream` is None where that variant was not run. It does not change the outcome.
    """

    case: Case
    outcome: str | None
    reason: str
    checks: tuple[ExpectationCheck, ...]
    upstream: Upstream | None = None

    @property
    def invalid(self) -> bool:
        """Whether something that was run is INVALID, or a check could not be decided."""
        undecided = any(check.holds is None for check in self.checks)
        return (
            self.outcome == INVALID
            or undecided
            or (self.upstream is not None and self.upstream.behaves is None)
        )

    @property
    def failed(self) -> bool:
        """Whether an expectation does not hold."""
        wrong = self.upstream is not None and self.upstream.behaves is False
        return wrong or any(check.holds is False for check in self.checks)

    def __repr__(self) -> str:
        checks = counted(len(self.checks), "check")
        return f"Verdict({self.case.id!r}, {self.outcome or 'no verdict'}, {checks})"


def verify(case: Case, records: Sequence[RunRecord]) -> Verdict:
    """Judge the runs of one case: INVALID before NOT REPRODUCED before REPRODUCED, over every
    seed.
    """
    upstream = verify_upstream(case, records)
    records = [record for record in records if record.variant != UPSTREAM]
    flaws = _flaws(case, records)
    if flaws:
        return Verdict(case, INVALID, flaws, (), upstream)
    variants = {record.variant for record in records}
    expectations = [item for item in case.oracle.expectations if item.variants <= variants]
    checks = _check_all(expectations, records)
    obstacle = unjudged(case)
    if variants != set(VARIANTS):
        obstacle = "both variants are needed for one"
    outcome, reason = _outcome(checks, obstacle)
    return Verdict(case, outcome, reason, checks, upstream)


def verify_upstream(case: Case, records: Sequence[RunRecord]) -> Upstream | None:
    """Judge the upstream runs by the expectations about the fixed variant; None where there are
    none.

    An expectation that compares the variants counts where the buggy one was run too.
    """
    upstream_records = [record for record in records if record.variant == UPSTREAM]
    if not upstream_records:
        return None
    flaws = _flaws(case, upstream_records)
    if flaws:
        return Upstream(None, flaws)
    judged = [replace(record, variant="fixed") for record in upstream_records]
    judged += [record for record in records if record.variant == "buggy" and not flaw(case, record)]
    variants = {record.variant for record in judged}
    expectations = [
        item
        for item in case.oracle.expectations
        if "fixed" in item.variants and item.variants <= variants
    ]
    checks = _check_all(expectations, judged)
    obstacle = None if checks else "no expectation is about the fixed variant alone"
    outcome, reason = _outcome(checks, obstacle)
    behaves = {REPRODUCED: True, NOT_REPRODUCED: False}.get(outcome or "")
    return Upstream(behaves, reason)


def _flaws(case: Case, records: Sequence[RunRecord]) -> str:
    """Why one of these runs cannot be judged, and how many more; empty where all can be."""
    flaws: list[str] = []
    for record in records:
        reason = flaw(case, record)
        if reason:
            flaws.append(f"{record.variant} seed {record.seed}: {reason}")
    if len(flaws) > 1:
        return f"{flaws[0]} (and {len(flaws) - 1} more)"
    return "".join(flaws)


def _check_all(
    expectations: Sequence[Expectation], records: Sequence[RunRecord]
) -> tuple[ExpectationCheck, ...]:
    by_seed = metrics_by_seed(records)
    checks: list[ExpectationCheck] = []
    for expectation in expectations:
        checks += check_seeds(expectation, by_seed)
    return tuple(checks)


def metrics_by_seed(records: Sequence[RunRecord]) -> dict[int, dict[str, Sequence[Record]]]:
    """The metrics of each variant, by seed."""
    by_seed: dict[int, dict[str, Sequence[Record]]] = {}
    for record in sorted(records, key=lambda record: record.seed):
        by_seed.setdefault(record.seed, {})[record.variant] = record.metrics
    return by_seed


def unjudged(case: Case) -> str | None:
    """Why a case can have no verdict: a variant that no expectation is about; None where there is
    one about each.
    """
    about = frozenset[str]().union(*(item.variants for item in case.oracle.expectations))
    absent = " or ".join(variant for variant in VARIANTS if variant not in about)
    return f"no expectation is about variant {absent}" if absent else None


def _outcome(checks: Sequence[ExpectationCheck], obstacle: str | None) -> tuple[str | None, str]:
    undecided = [check for check in checks if check.holds is None]
    failed = [check for check in checks if check.holds is False]
    if undecided:
        return INVALID, f"{undecided[0].seeds}: {undecided[0].explanation}"
    if obstacle:
        return None, f"no verdict: {obstacle}"
    if failed:
        first = failed[0]
        statement = first.expectation.statement
        return NOT_REPRODUCED, f"{first.seeds}: {statement}: {first.explanation}"
    return REPRODUCED, f"{len(checks)} checks hold"
