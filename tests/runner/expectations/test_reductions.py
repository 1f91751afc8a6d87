"""Reductions: what each one makes, and which config.json may hold."""

import sys

import pytest

from runner.bugs.config import Config
from runner.errors import MeasureError
from runner.expectations.reductions import REDUCTIONS, reduce
from runner.files.structs import schema

VALUES = [3.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("first", 3.0),
        ("last", 2.0),
        ("max", 3.0),
        ("min", 1.0),
        ("mean", 2.0),
        ("median", 2.0),
        ("largest_drop", 2.0),
        ("distinct", 3),
        ("count", 4),
    ],
)
def test_reductions(name, expected):
    assert reduce(VALUES, name) == expected


def test_each_reduction_has_a_case_above():
    (marks,) = test_reductions.pytestmark
    tested = {name for name, _ in marks.args[1]}
    assert tested == set(REDUCTIONS)


def test_config_json_may_hold_the_reductions_of_the_table():
    properties = schema(Config)["$defs"]["Expectation"]["properties"]
    words = [word for part in properties["reduce"]["anyOf"] for word in part["enum"]]
    assert sorted(words) == sorted(["all", *REDUCTIONS])


def test_reductions_across_seeds_make_numbers():
    properties = schema(Config)["$defs"]["Expectation"]["properties"]
    (names,) = [part["enum"] for part in properties["across_seeds"]["anyOf"] if "enum" in part]
    assert all(REDUCTIONS[name].makes_number for name in names)


@pytest.mark.parametrize("name", ["max", "min", "mean", "median", "largest_drop"])
def test_texts_are_no_numbers(name):
    with pytest.raises(MeasureError, match=rf"^{name} needs numbers, found \[1.0, 'a'\]$"):
        reduce([1.0, "a"], name)


def test_one_value_has_no_drop():
    assert reduce([3.0], "largest_drop") == 0.0


def test_a_rise_alone_is_a_drop_below_zero():
    assert reduce([1.0, 3.0], "largest_drop") == -2.0


def test_a_mean_beyond_all_floats_cannot_be_computed():
    with pytest.raises(MeasureError, match="^the mean of .* cannot be computed: "):
        reduce([sys.float_info.max, sys.float_info.max], "mean")


def test_lists_may_be_distinct():
    assert reduce([[1, 2], [1.0, 2.0], [2, 1]], "distinct") == 2  # type: ignore[list-item]
