"""The parameters of a case, changed one at a time. Pure functions."""

from collections.abc import Iterator, Mapping

from runner.bugs.case import Case
from runner.bugs.changed_case import with_parameter
from runner.field_types import Scalar

# The runner sets these itself, or they name files.
NOT_VARIED = ("seed", "device", "output")


def variations(case: Case) -> dict[str, Case]:
    """The case with each of its numbers and flags changed alone, by the change in words.

    A whole number n becomes 1, n - 1, n + 1 and 2n, another number 0 and its double (and 1 in place
    of 0), a flag its contrary. Words stay, and whole numbers do not get negative.
    """
    found: dict[str, Case] = {}
    for parameter, value in case.program.parameters.items():
        if parameter in NOT_VARIED:
            continue
        for how, other in _others(value).items():
            # No case of a bug has such a name.
            name = f"study-vary-{case.name}-{parameter}-{how}"
            found[f"{parameter} = {other}"] = with_parameter(case, name, parameter, other)
    return found


def _others(value: Scalar) -> Mapping[str, Scalar]:
    """Other values in the place of this one; each has a name, and none stands twice."""
    others: dict[str, Scalar] = {}
    for how, other in _candidates(value):
        if other != value and other not in others.values():
            others[how] = other
    return others


def _candidates(value: Scalar) -> Iterator[tuple[str, Scalar]]:
    if isinstance(value, bool):
        yield "contrary", not value
    elif isinstance(value, int):
        yield "one", 1
        yield "less", max(value - 1, 0)
        yield "more", value + 1
        yield "double", 2 * value
    elif isinstance(value, float):
        yield "zero", 0.0
        yield "double", 2 * value if value else 1.0
