"""Drift: the distance from expected records."""

import math

from support.records import record

from runner.verdicts.drift import distance, drift


def reproducing(seeds=(0, 1)):
    return [
        record(v, s, (1, 2, 3) if v == "buggy" else (2, 4, 6))
        for s in seeds
        for v in ("buggy", "fixed")
    ]


def test_drift(toy):
    case = toy.bug.cases["only"]
    assert drift(case, [record("buggy")], []) is None
    assert drift(case, reproducing(), reproducing()) == 0
    assert drift(case, [record("buggy", 0, (1, 2, 3.5))], [record("buggy", 0, (1, 2, 3))]) == 0.5
    assert drift(case, [record("buggy", 0, (1, 2))], [record("buggy", 0, (1, 2, 3))]) == math.inf
    assert (
        drift(case, [record("buggy", 0, (1, 2, "x"))], [record("buggy", 0, (1, 2, 3))]) == math.inf
    )


def test_drift_knows_nan_from_its_text():
    nan = record("buggy", 0, (1, 2, math.nan))
    text = record("buggy", 0, (1, 2, "NaN"))
    assert distance(nan.metrics, text.metrics, frozenset()) == 0


def test_volatile_metrics_are_left_out_of_drift(toy):
    toy.configure(volatile=["accuracy"])
    case = toy.bug.cases["only"]
    assert drift(case, [record("buggy", 0, (1, 2, 3.5))], [record("buggy", 0, (1, 2, 3))]) == 0
    assert drift(case, [record("buggy", 0, (1, 2))], [record("buggy", 0, (1, 2, 3))]) == math.inf
