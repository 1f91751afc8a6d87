"""Operators: what each one means, and which config.json may hold."""

import msgspec
import pytest

from runner.bugs.config import Config
from runner.expectations.checks import check
from runner.expectations.expectation import Expectation
from runner.expectations.operators import OPERATORS
from runner.files.structs import schema


@pytest.mark.parametrize(
    "observed, reduce, op, value, holds",
    [
        ((1, 2), "all", "==", (1, 2), True),
        ((1, 2), "all", "==", (1, 3), False),
        ((1, 2), "all", "==", (1, 2, 3), False),
        ((1, 2), "all", "!=", (1, 3), True),
        ((1, 2), "all", "!=", (1, 2), False),
        ((1, 2), "all", "!=", 1, False),
        ((2, 2), "all", "!=", 1, True),
        ((1, 2), "all", "<=", 2, True),
        ((1, 3), "all", "<=", 2, False),
        ((1, 2), "all", ">=", 1, True),
        ((1, 2), "all", ">=", (1, 3), False),
        ((1.0, 2.1), "all", "close", (1, 2), True),
        ((1.0, 2.3), "all", "close", (1, 2), False),
        ((1, 2), "last", "==", 2, True),
        ((True, False), "last", "==", False, True),
        (("x", "y"), "last", "==", "y", True),
        (("x", "y"), "last", "<=", 1, None),
        ((1, 2), "mean", "close", 1.4, True),
    ],
)
def test_operators(observed, reduce, op, value, holds):
    expectation = Expectation(
        metric="v", statement="s", variant="buggy", reduce=reduce, op=op, value=value,
        tolerance=0.2 if op == "close" else None,
    )  # fmt: skip
    records = {"buggy": [{"v": element} for element in observed]}
    assert check(expectation, 0, records).holds is holds


def test_each_operator_has_a_case_above():
    (marks,) = test_operators.pytestmark
    tested = {operator for _, _, operator, _, _ in marks.args[1]}
    assert tested == set(OPERATORS)


def test_config_json_may_hold_the_operators_of_the_table():
    properties = schema(Config)["$defs"]["Expectation"]["properties"]
    assert properties["op"]["enum"] == sorted(OPERATORS)


def test_another_operator_is_refused():
    value = {
        "statement": "s", "variant": "buggy", "metric": "v", "reduce": "last", "op": "<", "value": 1,
    }  # fmt: skip
    with pytest.raises(msgspec.ValidationError, match="Invalid enum value '<'"):
        msgspec.convert(value, Expectation)
