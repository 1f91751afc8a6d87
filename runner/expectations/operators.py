"""Operators: how an observed value is compared with the `value` of an expectation.

To add an operator, add an entry to OPERATORS, and its cases to
tests/runner/expectations/test_expectation_operators.py. config.json may then hold it. Write the
schema of config.json anew with `python -m trainbugs.schemas`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from runner.errors import MeasureError
from runner.expectations.values import Value


@dataclass(frozen=True)
class ExpectationOperator:
    """One way to compare. `holds` gets the observed value, the expected one, and the difference
    that is allowed.

    `needs_numbers`: a text cannot be compared. `needs_tolerance`: the expectation has the key
    `tolerance`. `differs`: a list holds where one element does, or where it is not as long as the
    expected list.
    """

    holds: Callable[[Any, Any, float], bool]
    needs_numbers: bool = True
    needs_tolerance: bool = False
    differs: bool = False


OPERATORS: Mapping[str, ExpectationOperator] = {
    "==": ExpectationOperator(
        lambda observed, expected, _: observed == expected, needs_numbers=False
    ),
    "!=": ExpectationOperator(
        lambda observed, expected, _: observed != expected, needs_numbers=False, differs=True
    ),
    "<=": ExpectationOperator(lambda observed, expected, _: observed <= expected),
    ">=": ExpectationOperator(lambda observed, expected, _: observed >= expected),
    "close": ExpectationOperator(
        lambda observed, expected, tolerance: abs(observed - expected) <= tolerance,
        needs_tolerance=True,
    ),
}

if TYPE_CHECKING:
    OperatorName = str
else:
    # What config.json may hold: the keys of the table.
    OperatorName = Literal[tuple(OPERATORS)]


def compare(
    name: str,
    observed: Value | list[Value],
    expected: Value | tuple[Value, ...],
    tolerance: float = 0.0,
    relative: bool = False,
) -> bool:
    """Whether what was observed holds against what is expected, value by value.

    Expected is a tuple with a value for each observed one, or one value for all. With `relative`,
    the tolerance is a share of the expected value. Raises MeasureError where a text meets an
    operator that needs numbers.
    """
    operator = OPERATORS[name]
    observed_values = observed if isinstance(observed, list) else [observed]
    is_list = isinstance(expected, tuple)
    expected_values = expected if isinstance(expected, tuple) else [expected] * len(observed_values)
    if len(observed_values) != len(expected_values):
        return operator.differs
    results = (
        _compare_pair(name, value, expected_value, tolerance, relative)
        for value, expected_value in zip(observed_values, expected_values, strict=True)
    )
    # A list differs where any element does; one value must differ from all of them.
    return any(results) if operator.differs and is_list else all(results)


def _compare_pair(
    name: str, observed: Any, expected: Any, tolerance: float, relative: bool
) -> bool:
    operator = OPERATORS[name]
    is_text = isinstance(observed, str) or isinstance(expected, str)
    if operator.needs_numbers and is_text:
        raise MeasureError(f"{observed!r} and {expected!r} cannot be compared by {name}")
    allowed = tolerance * abs(expected) if relative else tolerance
    return operator.holds(observed, expected, allowed)
