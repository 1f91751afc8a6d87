"""The verdict of a case from its run records: pure functions, which read and write nothing."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from msgspec.structs import replace

from runner.bugs.model import UPSTREAM, VARIANTS, Case, Expectation, Record, counted
from runner.errors import MeasureError
from runner.files.atomic import finite
from runner.results.record import RunRecord
from runner.verdicts.series import Value, difference, is_finite, reduce, values
from runner.verdicts.whole import flaw

REPRODUCED = "REPRODUCED"
NOT_REPRODUCED = "NOT REPRODUCED"
INVALID = "INVALID"


@dataclass(frozen=True)
class Check:
    """One expectation on the records of one seed, or of all (`seed` None). `holds` is None where it is undecided.

    `explanation` says what was observed and what was wanted, or why it is undecided; only where it is decided are
    `observed` and `wanted` there by themselves.
    """

    expectation: Expectation
    seed: int | None
    holds: bool | None
    explanation: str
    observed: str = ""
    wanted: str = ""

    @property
    def of(self) -> str:
        """The seeds that were looked at, in words."""
        return "all seeds" if self.seed is None else f"seed {self.seed}"

    def __repr__(self) -> str:
        said = {True: "holds", False: "fails", None: "undecided"}[self.holds]
        return f"Check({shorten(self.expectation.statement, 60, placeholder=' ...')!r}, {self.of}, {said})"


@dataclass(frozen=True)
class Upstream:
    """Whether the buggy script, in a release with the real fix, behaves as the fixed one does; None: undecided."""

    behaves: bool | None
    reason: str


@dataclass(frozen=True)
class Verdict:
    """The verdict of a case. `outcome` is None where not both variants were run; then the checks are all there is.

    `upstream` is None where that variant was not run. It does not change the outcome.
    """

    case: Case
    outcome: str | None
    reason: str
    checks: tuple[Check, ...]
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
    """Judge the runs of one case: INVALID before NOT REPRODUCED before REPRODUCED, over every seed."""
    upstream = verify_upstream(case, records)
    records = [record for record in records if record.variant != UPSTREAM]
    flaws = _flaws(case, records)
    if flaws:
        return Verdict(case, INVALID, flaws, (), upstream)
    variants = {record.variant for record in records}
    checks = _all_checks(
        [item for item in case.oracle.expectations if item.variants <= variants], records
    )
    lacking = "both variants are needed for one" if variants != set(VARIANTS) else unjudged(case)
    return Verdict(case, *_outcome(checks, lacking), checks, upstream)


def verify_upstream(case: Case, records: Sequence[RunRecord]) -> Upstream | None:
    """Judge the upstream runs by the expectations about the fixed variant; None where there are none.

    Those that compare the variants count where the buggy one was run too.
    """
    own = [record for record in records if record.variant == UPSTREAM]
    if not own:
        return None
    flaws = _flaws(case, own)
    if flaws:
        return Upstream(None, flaws)
    in_place = [replace(record, variant="fixed") for record in own]
    in_place += [
        record for record in records if record.variant == "buggy" and not flaw(case, record)
    ]
    variants = {record.variant for record in in_place}
    about = [
        item
        for item in case.oracle.expectations
        if "fixed" in item.variants and item.variants <= variants
    ]
    checks = _all_checks(about, in_place)
    outcome, reason = _outcome(
        checks, None if checks else "no expectation is about the fixed variant alone"
    )
    return Upstream({REPRODUCED: True, NOT_REPRODUCED: False}.get(outcome or ""), reason)


def _flaws(case: Case, records: Sequence[RunRecord]) -> str:
    """Why one of these runs cannot be judged, and how many more; empty where all can be."""
    flaws = [
        f"{record.variant} seed {record.seed}: {why}"
        for record in records
        if (why := flaw(case, record))
    ]
    return "".join(flaws[:1]) + (f" (and {len(flaws) - 1} more)" if len(flaws) > 1 else "")


def _all_checks(
    expectations: Sequence[Expectation], records: Sequence[RunRecord]
) -> tuple[Check, ...]:
    runs = {(record.variant, record.seed): record.metrics for record in records}
    by_seed = {seed: _of_seed(runs, seed) for seed in sorted({record.seed for record in records})}
    return tuple(one for item in expectations for one in _checks(item, by_seed))


def unjudged(case: Case) -> str | None:
    """Why a case can have no verdict: a variant that no expectation is about; None where there is one about each."""
    about = frozenset[str]().union(*(item.variants for item in case.oracle.expectations))
    lacking = " or ".join(variant for variant in VARIANTS if variant not in about)
    return f"no expectation is about variant {lacking}" if lacking else None


def drift(case: Case, records: Sequence[RunRecord], expected: Sequence[RunRecord]) -> float | None:
    """The largest absolute distance of a metric that is not volatile from the expected record of the same run.

    Like is compared with like: a run on a GPU with one on a GPU, by the same torch, with the fault put back or not.
    None where no run has an expected record; infinite where records, their fields or their texts differ.
    """
    by_run = {_alike(record): record for record in expected}
    pairs = [(record, by_run.get(_alike(record))) for record in records if record.ok]
    distances = [
        distance(record.metrics, other.metrics, case.oracle.volatile)
        for record, other in pairs
        if other
    ]
    return max(distances) if distances else None


def _alike(record: RunRecord) -> tuple[object, ...]:
    """What a run and its expected record have in common."""
    # On a CPU the expected records are of the bug's own environment, with which any other one is compared.
    by = () if record.runtime.kind_of_device == "cpu" else (record.runtime.torch, record.injected)
    return (record.variant, record.seed, record.runtime.kind_of_device, *by)


def _outcome(checks: Sequence[Check], lacking: str | None) -> tuple[str | None, str]:
    undecided = [check for check in checks if check.holds is None]
    failed = [check for check in checks if check.holds is False]
    if undecided:
        return INVALID, f"{undecided[0].of}: {undecided[0].explanation}"
    if lacking:
        return None, f"no verdict: {lacking}"
    if failed:
        first = failed[0]
        return NOT_REPRODUCED, f"{first.of}: {first.expectation.statement}: {first.explanation}"
    return REPRODUCED, f"{len(checks)} checks hold"


def _of_seed(
    runs: Mapping[tuple[str, int], Sequence[Record]], seed: int
) -> dict[str, Sequence[Record]]:
    return {variant: metrics for (variant, of_seed), metrics in runs.items() if of_seed == seed}


def _checks(
    expectation: Expectation, by_seed: Mapping[int, Mapping[str, Sequence[Record]]]
) -> Iterator[Check]:
    if expectation.across_seeds:
        yield check_across(expectation, by_seed)
    else:
        yield from (check(expectation, seed, records) for seed, records in by_seed.items())


def check(expectation: Expectation, seed: int, records: Mapping[str, Sequence[Record]]) -> Check:
    """Whether an expectation holds for the records of one seed; `records` maps each variant to its records."""
    try:
        observed = _observed(expectation, records)
        holds = _holds(observed, expectation)
    except (MeasureError, KeyError) as error:
        return Check(expectation, seed, None, _undecided(error))
    made = f"{expectation.reduce} {_text(observed)}"
    return _decided(expectation, seed, holds, made, _lengths(observed, expectation))


def check_across(
    expectation: Expectation, by_seed: Mapping[int, Mapping[str, Sequence[Record]]]
) -> Check:
    """Whether an expectation about all seeds together holds; `by_seed` maps each seed to the records of its variants.

    Seeds are those that were run.
    """
    numbers: list[Value] = []
    how = expectation.across_seeds or "mean"
    for seed, records in by_seed.items():
        try:
            observed = _observed(expectation, records)
        except (MeasureError, KeyError) as error:
            return Check(expectation, None, None, f"seed {seed}: {_undecided(error)}")
        numbers += observed if isinstance(observed, list) else [observed]
    try:
        statistic = reduce(numbers, how)
        holds = _holds(statistic, expectation)
    except MeasureError as error:
        return Check(expectation, None, None, str(error))
    made = f"{how} {_text(statistic)} of {expectation.reduce} {_text(numbers)}"
    return _decided(expectation, None, holds, made)


def _decided(
    expectation: Expectation, seed: int | None, holds: bool, made: str, lengths: str = ""
) -> Check:
    wanted = _wanted(expectation)
    return Check(
        expectation, seed, holds, f"{made}, expected {wanted}{lengths}", made, wanted + lengths
    )


def _observed(
    expectation: Expectation, records: Mapping[str, Sequence[Record]]
) -> Value | list[Value]:
    """The values of one seed, or the number that is made of them."""
    series = values(
        expectation, expectation.variant, records, lists=expectation.reduce == "distinct"
    )
    return series if expectation.reduce == "all" else reduce(series, expectation.reduce)


def _undecided(error: Exception) -> str:
    return (
        str(error)
        if isinstance(error, MeasureError)
        else f"variant {error} was not run with this seed"
    )


def _wanted(expectation: Expectation) -> str:
    value = f"{expectation.op} {_text(expectation.value)}"
    if expectation.tolerance is None:
        return value
    return f"{value} ± " + (
        f"{expectation.tolerance:.4g} of it"
        if expectation.relative
        else f"{expectation.tolerance:g}"
    )


def _lengths(observed: Value | Sequence[Value], expectation: Expectation) -> str:
    """How many values there are and how many are expected, where these are not as many."""
    if not (isinstance(observed, list) and isinstance(expectation.value, tuple)):
        return ""
    many, wanted = len(observed), len(expectation.value)
    return "" if many == wanted else f": {counted(many, 'value')}, and `value` lists {wanted}"


def _holds(observed: Value | Sequence[Value], expectation: Expectation) -> bool:
    """Compare element by element: with a list, each with its own value, else all with the same one."""
    left = (
        list(observed)
        if isinstance(observed, Sequence) and not isinstance(observed, str)
        else [observed]
    )
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
        return abs(a - b) <= (expectation.tolerance or 0.0) * (
            abs(b) if expectation.relative else 1.0
        )
    return a <= b if expectation.op == "<=" else a >= b


def distance(a: Sequence[Record], b: Sequence[Record], volatile: frozenset[str]) -> float:
    if len(a) != len(b) or any(set(x) != set(y) for x, y in zip(a, b, strict=True)):
        return math.inf
    pairs = [
        (x[key], y[key]) for x, y in zip(a, b, strict=True) for key in x if key not in volatile
    ]
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
