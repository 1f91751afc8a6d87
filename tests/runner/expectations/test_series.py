"""Series taken from records, differences, and their reduction to one value."""

import math

import pytest

from runner.errors import MeasureError
from runner.expectations.reductions import reduce
from runner.expectations.series import Series, measure

RECORDS = {
    "buggy": [{"mode": "a", "v": 1.0, "p": [1.0, 2.0]}, {"mode": "b", "v": 4.0, "p": [1.5, 1.0]}],
    "fixed": [{"mode": "a", "v": 0.5, "p": [0.0, 0.0]}, {"mode": "b", "v": 1.0, "p": [0.0, 0.0]}],
}


def test_values_where_and_minus():
    assert measure(Series("v"), "buggy", RECORDS) == [1.0, 4.0]
    assert measure(Series("v", {"mode": "b"}), "buggy", RECORDS) == [4.0]
    assert measure(Series("v", minus="fixed"), "buggy", RECORDS) == [0.5, 3.0]
    # Of lists the largest absolute difference of elements is taken: |1.5 - 1| and |1 - 2|.
    assert measure(Series("p", {"mode": "b"}, minus_where={"mode": "a"}), "buggy", RECORDS) == [1.0]
    assert measure(Series("p", {"mode": "b"}, "fixed", {"mode": "a"}), "buggy", RECORDS) == [1.5]


@pytest.mark.parametrize(
    "name, value",
    [("first", 3), ("last", 2), ("max", 5), ("min", 1), ("mean", 2.75), ("largest_drop", 4)],
)
def test_reduce(name, value):
    assert reduce([3, 5, 1, 2], name) == value


def test_largest_drop_of_a_rising_or_single_sequence():
    drop = reduce([1, 2, 3], "largest_drop")
    assert isinstance(drop, float | int)
    assert drop < 0
    assert reduce([1], "largest_drop") == 0


@pytest.mark.parametrize(
    "series, words",
    [
        (Series("w"), "'w' is missing in record 1 of variant buggy"),
        (Series("v", {"mode": "c"}), "no record of variant buggy has mode = 'c'"),
        (Series("v", {"mode": "b"}, "fixed", {}), "'v': 1 value minus 2 values: if config.json"),
        (Series("mode", minus="fixed"), "cannot be subtracted"),
        (Series("p"), "expected one value in each record"),
    ],
)
def test_unusable_series(series, words):
    with pytest.raises(MeasureError, match=words):
        measure(series, "buggy", RECORDS)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 10**400, "NaN", "Infinity", [1.0, math.nan], None, {}]
)
def test_not_finite_is_never_a_value(value):
    with pytest.raises(MeasureError, match="record 2"):
        measure(Series("v"), "buggy", {"buggy": [{"v": 1.0}, {"v": value}]})


def test_text_cannot_be_averaged():
    with pytest.raises(MeasureError, match="needs numbers"):
        reduce(["x", "y"], "mean")
