"""When a patched program records the numbers of the fixed twin."""

import math

import pytest

from evaluation.repair.twin_numbers import first_difference


def difference(measured, wanted, **options):
    return first_difference([measured], [wanted], **options)


@pytest.mark.parametrize(
    ("measured", "wanted"),
    [
        ({"loss": 2.0}, {"loss": 2.001}),
        ({"loss": 0.0}, {"loss": 0.0009}),
        ({"loss": math.nan}, {"loss": math.nan}),
        ({"sizes": [1, 2.0]}, {"sizes": [1, 2.0001]}),
        ({"error": "none", "loss": None}, {"error": "none", "loss": None}),
    ],
)
def test_alike(measured, wanted):
    assert difference(measured, wanted) is None


@pytest.mark.parametrize(
    ("measured", "wanted"),
    [
        ({"loss": 2.0}, {"loss": 2.01}),
        ({"loss": math.nan}, {"loss": 2.0}),
        ({"loss": 2.0}, {}),
        ({}, {"loss": 2.0}),
        ({"loss": "2"}, {"loss": 2}),
        ({"loss": [1, 2]}, {"loss": [1, 2, 3]}),
        ({"loss": [1, 2]}, {"loss": [1, 3]}),
    ],
)
def test_not_alike(measured, wanted):
    assert "loss" in difference(measured, wanted)


def test_a_volatile_metric_is_not_compared():
    assert difference({"seconds": 1.0}, {"seconds": 9.0}, volatile={"seconds"}) is None


def test_another_number_of_records_differs():
    reason = first_difference([{}, {}], [{}])
    assert reason == "it has 2 records, the fixed one 1"
