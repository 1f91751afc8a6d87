"""Intervals against a textbook, by hand, and by how often they cover a rate that is known."""

import random

import pytest

from evaluation.scoring.intervals import clustered, student, wilson


@pytest.mark.parametrize(
    # Newcombe (1998), table I: the score interval without continuity correction
    "count, n, low, high",
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson(count, n, low, high):
    assert wilson(count, n) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_of_nothing():
    assert wilson(0, 0) == (None, None)
    assert clustered([], []) == (None, None)
    assert wilson(20, 20)[1] == 1
    assert wilson(0, 9)[0] == 0


@pytest.mark.parametrize(
    # Any table of Student's t
    "freedom, value",
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)],
)
def test_student(freedom, value):
    assert student(freedom) == pytest.approx(value, rel=2e-3)


def test_clusters_that_are_all_or_nothing_count_as_one_program_each():
    """Worked out by hand: 4 clusters of 3, 2 of them hit:
    design effect 3 (4/3 before it is bounded), 4 effective.
    """
    assert clustered([3, 3, 0, 0], [3, 3, 3, 3]) == pytest.approx(wilson(2, 4, student(3)))
    assert clustered([0, 0, 0, 0], [3, 3, 3, 3]) == pytest.approx(wilson(0, 4)), (
        "nothing to estimate an effect from"
    )
    assert clustered([5], [5]) == pytest.approx(wilson(1, 1)), "one bug is one program"


def test_the_design_effect_by_hand():
    """share 4/8, squares (1, 1, 0, 0) sum to 2: effect 4/3 * 2 / (8 * 1/4) = 4/3,
    effective 8 / (4/3) = 6 programs.
    """
    assert clustered([2, 0, 1, 1], [2, 2, 2, 2]) == pytest.approx(wilson(3, 6, student(3)))
    assert clustered([1, 1, 1, 1], [2, 2, 2, 2]) == pytest.approx(wilson(4, 8, student(3))), (
        "never below 1"
    )


@pytest.mark.parametrize("rate, alike", [(0.1, 0.5), (0.3, 1.0), (0.5, 0.0)])
def test_coverage(rate, alike):
    """30 bugs, seven of them with two to six cases, which share their fate to a degree:
    95 % is nearly reached.

    Wilson's interval of all programs covers the rate in three of four where the cases of a bug are
    alike.
    """
    sizes, chance = [1] * 23 + [2, 2, 3, 3, 3, 6, 6], random.Random(20)
    rounds, covered, plain = 1000, 0, 0
    for _ in range(rounds):
        counts = [sum(draw_bug(chance, rate, alike, size)) for size in sizes]
        low, high = clustered(counts, sizes)
        covered += low <= rate <= high
        low, high = wilson(sum(counts), sum(sizes))
        plain += low <= rate <= high
    assert covered / rounds >= 0.9
    assert alike < 1 or plain / rounds < 0.8


def draw_bug(chance, rate, alike, size):
    """Cases of a bug: each one falls as the bug does, or by itself."""
    shared = chance.random() < rate
    return [shared if chance.random() < alike else chance.random() < rate for _ in range(size)]
