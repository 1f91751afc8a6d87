"""Checks of expectations on the records of runs. Pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

from runner.errors import MeasureError
from runner.expectations.expectation import Expectation
from runner.expectations.operators import compare
from runner.expectations.reductions import reduce
from runner.expectations.series import measure
from runner.expectations.values import Value
from runner.field_types import Record
from runner.plurals import counted

# The records of each variant.
VariantRecords = Mapping[str, Sequence[Record]]
STATES = {True: "holds", False: "fails", None: "undecided"}


@dataclass(frozen=True)
class ExpectationCheck:
    """One expectation on the records of one seed, or of all (`seed` None).

    `holds` is None where it is undecided. `explanation` says what was observed and what was
    expected, or why it is undecided. `observed` and `expected` are the two by themselves, where it
    is decided.
    """

    expectation: Expectation
    seed: int | None
    holds: bool | None
    explanation: str
    observed: str = ""
    expected: str = ""

    @property
    def seeds(self) -> str:
        """The seeds that were looked at, in words."""
        return "all seeds" if self.seed is None else f"seed {self.seed}"

    def __repr__(self) -> str:
        statement = shorten(self.expectation.statement, 60, placeholder=" ...")
        return f"Check({statement!r}, {self.seeds}, {STATES[self.holds]})"


def check_seeds(
    expectation: Expectation, by_seed: Mapping[int, VariantRecords]
) -> Iterator[ExpectationCheck]:
    """The checks of an expectation: one for each seed, or one for all of them; `by_seed` has their
    records.
    """
    if expectation.across_seeds:
        yield check_across(expectation, by_seed)
    else:
        for seed, records in by_seed.items():
            yield check(expectation, seed, records)


def check(expectation: Expectation, seed: int, records: VariantRecords) -> ExpectationCheck:
    """Whether an expectation holds for the records of one seed."""
    try:
        observed = _observe(expectation, records)
        holds = _holds(observed, expectation)
    except (MeasureError, KeyError) as error:
        return ExpectationCheck(expectation, seed, None, _undecided(error))
    text = f"{expectation.reduce} {_text(observed)}"
    return _decided(expectation, seed, holds, text, _lengths(observed, expectation))


def check_across(
    expectation: Expectation, by_seed: Mapping[int, VariantRecords]
) -> ExpectationCheck:
    """Whether an expectation about all seeds together holds; `by_seed` has the records of the seeds
    that were run.
    """
    values: list[Value] = []
    reduction = expectation.across_seeds or "mean"
    for seed, records in by_seed.items():
        try:
            observed = _observe(expectation, records)
        except (MeasureError, KeyError) as error:
            reason = f"seed {seed}: {_undecided(error)}"
            return ExpectationCheck(expectation, None, None, reason)
        values += observed if isinstance(observed, list) else [observed]
    try:
        statistic = reduce(values, reduction)
        holds = _holds(statistic, expectation)
    except MeasureError as error:
        return ExpectationCheck(expectation, None, None, str(error))
    text = f"{reduction} {_text(statistic)} of {expectation.reduce} {_text(values)}"
    return _decided(expectation, None, holds, text)


def _decided(
    expectation: Expectation, seed: int | None, holds: bool, observed: str, lengths: str = ""
) -> ExpectationCheck:
    expected = _expected(expectation)
    explanation = f"{observed}, expected {expected}{lengths}"
    return ExpectationCheck(expectation, seed, holds, explanation, observed, expected + lengths)


def _observe(expectation: Expectation, records: VariantRecords) -> Value | list[Value]:
    """The values of one seed, or the number that is made of them."""
    has_lists = expectation.reduce == "distinct"
    values = measure(expectation, expectation.variant, records, lists=has_lists)
    return values if expectation.reduce == "all" else reduce(values, expectation.reduce)


def _undecided(error: Exception) -> str:
    if isinstance(error, MeasureError):
        return str(error)
    return f"variant {error} was not run with this seed"


def _holds(observed: Value | list[Value], expectation: Expectation) -> bool:
    return compare(
        expectation.op,
        observed,
        expectation.value,
        tolerance=expectation.tolerance or 0.0,
        relative=expectation.relative,
    )


def _expected(expectation: Expectation) -> str:
    value = f"{expectation.op} {_text(expectation.value)}"
    if expectation.tolerance is None:
        return value
    if expectation.relative:
        return f"{value} ± {expectation.tolerance:.4g} of it"
    return f"{value} ± {expectation.tolerance:g}"


def _lengths(observed: Value | list[Value], expectation: Expectation) -> str:
    """How many values there are and how many are expected, where these are not as many."""
    if not (isinstance(observed, list) and isinstance(expectation.value, tuple)):
        return ""
    length, expected_length = len(observed), len(expectation.value)
    if length == expected_length:
        return ""
    return f": {counted(length, 'value')}, and `value` lists {expected_length}"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(element) for element in value) + "]"
    return repr(value)
