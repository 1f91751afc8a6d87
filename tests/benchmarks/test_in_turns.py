"""The interval of a median, and a ratio of commands that were measured in turns."""

from math import comb

import pytest
from support.modules import load

timing = load("benchmarks/timing.py")


def coverage(count, left):
    """How often the median lies between the (left + 1)th lowest and highest of `count` values."""
    return 1 - 2 * sum(comb(count, below) for below in range(left + 1)) / 2**count


@pytest.mark.parametrize("count", [6, 9, 15, 40])
def test_the_interval_is_the_narrowest_one_that_holds_the_median(count):
    low, high = timing.order_interval(list(range(count)))
    assert low + high == count - 1
    assert coverage(count, low) >= 0.95
    assert coverage(count, low + 1) < 0.95


def test_few_values_give_all_of_them():
    assert timing.order_interval([1.0, 2.0, 4.0]) == (1.0, 4.0)


def test_a_ratio_is_of_neighbours():
    # Both of the second pair met a busy moment.
    assert timing.ratio([2.0, 20.0, 2.0], [1.0, 10.0, 1.0]) == "ratio 2.000 [2.000, 2.000]"
