"""The verdict of a case from its run records: pure functions, which read and write nothing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from runner.bugs.model import VARIANTS, Case, Expectation, Record, counted
from runner.errors import MeasureError
from runner.files.atomic import finite
from runner.results.record import RunRecord
from runner.verdicts.series import Value, difference, is_finite, reduce, values

REPRODUCED = "REPRODUCED"
NOT_REPRODUCED = "NOT REPRODUCED"
INVALID = "INVALID"


@dataclass(frozen=True)
class Check:
    """One expectation on the records of one seed. `holds` is None where it cannot be decided."""

    expectation: Expectation
    seed: int
    holds: bool | None
    explanation: str

    def __repr__(self) -> str:
        said = {True: "holds", False: "fails", None: "undecided"}[self.holds]
        return f"Check({shorten(self.expectation.statement, 60, placeholder=' ...')!r}, seed {self.seed}, {said})"


@dataclass(frozen=True)
class Verdict:
    """The verdict of a case. `outcome` is None where not both variants were run; then the checks are all there is."""

    case: Case
    outcome: str | None
    reason: str
    checks: tuple[Check, ...]

    @property
    def invalid(self) -> bool:
        """Whether the outcome is INVALID, or a check could not be decided."""
        return self.outcome == INVALID or any(check.holds is None for check in self.checks)

    @property
    def failed(self) -> bool:
        """Whether an expectation does not hold."""
        return any(check.holds is False for check in self.checks)

    def __repr__(self) -> str:
        checks = counted(len(self.checks), "check")
        return f"Verdict({self.case.id!r}, {self.outcome or 'no verdict'}, {checks})"


def verify(case: Case, records: Sequence[RunRecord]) -> Verdict:
    """Judge the runs of one case: INVALID before NOT REPRODUCED before REPRODUCED, over every seed."""
    broken = [record for record in records if not record.ok]
    if broken:
        first = broken[0]
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return Verdict(case, INVALID, f"{first.variant} seed {first.seed}: {first.status}: {first.reason}{more}", ())
    variants = {record.variant for record in records}
    seeds = sorted({record.seed for record in records})
    runs = {(record.variant, record.seed): record.metrics for record in records}
    expectations = [item for item in case.oracle.expectations if _variants_of(item) <= variants]
    checks = tuple(check(item, seed, _of_seed(runs, seed)) for item in expectations for seed in seeds)
    return Verdict(case, *_outcome(checks, complete=variants == set(VARIANTS)), checks)


def drift(case: Case, records: Sequence[RunRecord], expected: Sequence[RunRecord]) -> float | None:
    """The largest absolute distance of a metric that is not volatile from the expected record of the same run.

    None where no run has an expected record; infinite where records, their fields or their texts differ.
    """
    by_run = {(record.variant, record.seed): record for record in expected}
    pairs = [(record, by_run.get((record.variant, record.seed))) for record in records if record.ok]
    distances = [_distance(record.metrics, other.metrics, case.oracle.volatile) for record, other in pairs if other]
    return max(distances) if distances else None


def _outcome(checks: Sequence[Check], complete: bool) -> tuple[str | None, str]:
    undecided = [check for check in checks if check.holds is None]
    failed = [check for check in checks if check.holds is False]
    if undecided:
        return INVALID, f"seed {undecided[0].seed}: {undecided[0].explanation}"
    if not complete:
        return None, "no verdict: both variants are needed for one"
    if failed:
        first = failed[0]
        return NOT_REPRODUCED, f"seed {first.seed}: {first.expectation.statement}: {first.explanation}"
    return REPRODUCED, f"{len(checks)} checks hold"


def _variants_of(expectation: Expectation) -> set[str]:
    return {expectation.variant} | ({expectation.minus} if expectation.minus else set())


def _of_seed(runs: Mapping[tuple[str, int], Sequence[Record]], seed: int) -> dict[str, Sequence[Record]]:
    return {variant: metrics for (variant, of_seed), metrics in runs.items() if of_seed == seed}


def check(expectation: Expectation, seed: int, records: Mapping[str, Sequence[Record]]) -> Check:
    """Whether an expectation holds for the records of one seed; `records` maps each variant to its records."""
    try:
        series = values(expectation, expectation.variant, records)
        observed: Value | list[Value] = series if expectation.reduce == "all" else reduce(series, expectation.reduce)
        holds = _holds(observed, expectation)
    except (MeasureError, KeyError) as error:
        text = str(error) if isinstance(error, MeasureError) else f"variant {error} was not run with this seed"
        return Check(expectation, seed, None, text)
    tolerance = f" ± {expectation.tolerance:g}" if expectation.tolerance else ""
    expected = f"{expectation.op} {_text(expectation.value)}{tolerance}"
    return Check(expectation, seed, holds, f"{expectation.reduce} {_text(observed)}, expected {expected}")


def _holds(observed: Value | Sequence[Value], expectation: Expectation) -> bool:
    """Compare element by element: with a list, each with its own value, else all with the same one."""
    left = list(observed) if isinstance(observed, Sequence) and not isinstance(observed, str) else [observed]
    value = expectation.value
    right = list(value) if isinstance(value, tuple) else [value] * len(left)
    if len(left) != len(right):
        return expectation.op == "!="
    pairs = list(zip(left, right, strict=True))
    if expectation.op == "==":
        return all(a == b for a, b in pairs)
    if expectation.op == "!=":
        # A list differs where any element does; one value must differ from all of them.
        differs = [a != b for a, b in pairs]
        return any(differs) if isinstance(value, tuple) else all(differs)
    return all(_compare(a, b, expectation) for a, b in pairs)


def _compare(a: Value, b: Value, expectation: Expectation) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        raise MeasureError(f"{a!r} and {b!r} cannot be compared by {expectation.op}")
    if expectation.op == "close":
        return abs(a - b) <= (expectation.tolerance or 0.0)
    return a <= b if expectation.op == "<=" else a >= b


def _distance(a: Sequence[Record], b: Sequence[Record], volatile: frozenset[str]) -> float:
    if len(a) != len(b) or any(set(x) != set(y) for x, y in zip(a, b, strict=True)):
        return math.inf
    pairs = [(x[key], y[key]) for x, y in zip(a, b, strict=True) for key in x if key not in volatile]
    return max((_value_distance(x, y) for x, y in pairs), default=0.0)


def _value_distance(a: Any, b: Any) -> float:
    a, b = finite(a), finite(b)
    if a == b:
        return 0.0
    if isinstance(a, str) or isinstance(b, str) or not (is_finite(a) and is_finite(b)):
        return math.inf
    try:
        return abs(difference(a, b))
    except MeasureError:
        return math.inf


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(element) for element in value) + "]"
    return repr(value)
