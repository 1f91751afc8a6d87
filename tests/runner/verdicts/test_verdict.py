"""Verdicts: INVALID before NOT REPRODUCED before REPRODUCED."""

import math

import pytest
from support.copies import replace
from support.records import record

from runner.verdicts.verdict import verify


def reproducing(seeds=(0, 1)):
    return [
        record(v, s, (1, 2, 3) if v == "buggy" else (2, 4, 6))
        for s in seeds
        for v in ("buggy", "fixed")
    ]


def test_reproduced_needs_every_seed(toy):
    case = toy.bug.cases["only"]
    verdict = verify(case, reproducing())
    assert (verdict.outcome, verdict.failed, verdict.invalid, len(verdict.checks)) == (
        "REPRODUCED",
        False,
        False,
        4,
    )
    spoiled = [*reproducing((0,)), record("buggy", 1, (1, 2, 9)), record("fixed", 1, (2, 4, 12))]
    verdict = verify(case, spoiled)
    assert verdict.outcome == "NOT REPRODUCED"
    assert "seed 1: buggy stays low: last 9, expected <= 5" in verdict.reason


def test_buggy_that_behaves_is_not_reproduced(toy):
    records = [record(variant, 0, (2, 4, 6)) for variant in ("buggy", "fixed")]
    assert verify(toy.bug.cases["only"], records).outcome == "NOT REPRODUCED"


def test_fixed_that_misbehaves_is_not_reproduced(toy):
    records = [record(variant, 0, (1, 2, 3)) for variant in ("buggy", "fixed")]
    assert verify(toy.bug.cases["only"], records).outcome == "NOT REPRODUCED"


@pytest.mark.parametrize(
    "status", ["crashed", "killed", "timeout", "no records", "environment broken"]
)
@pytest.mark.parametrize("variant", ["buggy", "fixed"])
def test_one_broken_run_makes_it_invalid(toy, status, variant):
    records = reproducing()
    records[2] = record(variant, 1, (), status, reason="why")
    verdict = verify(toy.bug.cases["only"], records)
    assert (verdict.outcome, verdict.reason) == ("INVALID", f"{variant} seed 1: {status}: why")
    assert verdict.invalid


@pytest.mark.parametrize("value", [math.nan, "NaN", math.inf, None])
def test_nan_is_invalid_and_named(toy, value):
    records = [record("buggy", 0, (1, 2, value)), record("fixed", 0, (2, 4, 6))]
    verdict = verify(toy.bug.cases["only"], records)
    assert verdict.outcome == "INVALID"
    assert "'accuracy' is" in verdict.reason
    assert "record 3 of variant buggy" in verdict.reason


def test_missing_metric_or_run_is_invalid(toy):
    case = toy.bug.cases["only"]
    no_metric = replace(record("buggy"), metrics=({"epoch": 1},))
    assert verify(case, [no_metric, record("fixed")]).outcome == "INVALID"
    assert verify(case, [*reproducing((0,)), record("buggy", 1)]).outcome == "INVALID"


def test_one_variant_gives_no_verdict_but_its_checks(toy):
    verdict = verify(toy.bug.cases["only"], [record("buggy", 0, (1, 2, 9))])
    assert (verdict.outcome, verdict.failed, len(verdict.checks)) == (None, True, 1)
