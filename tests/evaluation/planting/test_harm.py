"""The oracle of planted faults, against runs of which it is plain whether one group is worse."""

import math

import pytest

from evaluation.planting.harm import judge_metrics, judge_moves


def runs(*ends, name="loss", start=10.0):
    """A run for each end: eight records, the last two of which have it."""
    by_seed = {}
    for seed, end in enumerate(ends):
        values = [start] * 6 + [end] * 2
        by_seed[seed] = [{"epoch": epoch, name: value} for epoch, value in enumerate(values)]
    return by_seed


@pytest.mark.parametrize(
    "clean, planted, shown",
    [
        ((1.0, 1.2, 1.1), (1.5, 1.6, 1.9), True),  # a gap of 0.3, where the seeds differ by 0.2
        ((1.0, 1.2, 1.1), (1.39, 1.6, 1.9), False),  # a gap of 0.19
        ((1.0, 1.2, 1.1), (5.0, 1.1, 5.0), False),  # one seed that does as well
        ((1.0, 1.0, 1.0), (1.04, 1.04, 1.04), False),  # nothing is random: 5 % are asked for
        ((1.0, 1.0, 1.0), (1.06, 1.06, 1.06), True),
        ((1.0, 1.2, 1.1), (0.1, 0.1, 0.1), False),
        ((1.0, 1.2, 1.1), (math.nan, math.inf, "NaN"), True),
        ((1.0, 1.2, math.nan), (9.0, 9.0, math.nan), False),
    ],
)
def test_a_loss_that_ends_higher(clean, planted, shown):
    assert judge_metrics(runs(*clean), runs(*planted)).shown is shown


def test_an_accuracy_that_ends_lower():
    clean, worse = (
        runs(0.9, 0.92, 0.95, name="validation_accuracy"),
        runs(0.5, 0.7, 0.8, name="validation_accuracy"),
    )
    assert judge_metrics(clean, worse).shown
    assert not judge_metrics(worse, clean).shown
    assert (
        "validation_accuracy ends at 0.8 at best, without the fault at 0.9 at worst"
        in judge_metrics(clean, worse).why
    )


def test_what_is_not_judged():
    clean, worse = runs(1.0, 1.2), runs(7.0, 8.0)
    assert judge_metrics(clean, worse).shown
    for judgement in (
        judge_metrics(clean, worse, volatile=frozenset({"loss"})),
        judge_metrics(clean, worse, judged_by_loss=False),
        judge_metrics(runs(1, 1, name="seconds"), runs(7, 7, name="seconds")),
    ):
        assert not judgement.shown
        assert judgement.why == "no metric tells how good a run is"


def test_it_is_the_end_that_counts():
    assert not judge_metrics(runs(1.0, 1.1), runs(1.0, 1.1, start=99.0)).shown


def test_parameters_that_stay():
    assert judge_moves(6, 4).shown
    assert judge_moves(6, 0).shown
    assert not judge_moves(6, 6).shown
    assert not judge_moves(None, 0).shown
    assert not judge_moves(6, None).shown
