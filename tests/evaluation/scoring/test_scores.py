"""Scores against numbers that were worked out by hand, or that a textbook gives."""

import json

import pandas as pd
import pytest
from msgspec.structs import replace
from support.checks import HIT, SITE, overhead, record

from evaluation.model import Alarm, Invariants, Rule
from evaluation.scoring import report
from evaluation.scoring.scores import diagnosis, outcomes, scores
from plots.detectors import draw

RULES = {"d": {"default": Rule()}}


def one(records, rules=RULES, overheads=()):
    return scores(outcomes(records, rules), overheads).iloc[0]


def test_a_detection_is_paired_only_if_the_fixed_twin_ran_and_is_silent():
    found = [
        record(alarms=[HIT]), record("fixed"),
        record(case="two", alarms=[HIT]), record("fixed", "two", [HIT]),
        record(case="three", alarms=[HIT]), record("fixed", "three", status="tool_error"),
        record(case="four", alarms=[HIT]),
        record(case="five"), record("fixed", "five"),
        record(case="six", status="timeout"), record("fixed", "six"),
    ]  # fmt: skip
    row = one(found)
    assert (row.detected, row.detected_n, row.paired, row.ran) == (4, 6, 1, 5)
    assert (row.false_fixed, row.false_fixed_n) == (1, 4)
    assert (row.tool_error, row.timeout) == (1, 1)


def test_alarms_of_a_failed_tool_count_nowhere():
    assert one([record(alarms=[HIT], status="tool_error"), record("fixed")]).detected == 0


def test_delay_is_from_the_trigger_and_of_the_first_alarm_that_counts():
    early = Alarm("c", "m", "info", 1)
    row = one([record(alarms=[HIT, replace(HIT, iteration=9), early]), record("fixed")])
    assert (row.claimed_delay_median, row.claimed_delay_max, row.delay_median) == (2, 2, None)
    static = one([record(alarms=[replace(HIT, iteration=None)]), record("fixed")])
    assert static.detected == 1 and static.claimed_delay_median is None


def test_the_delay_is_that_of_the_launcher_whatever_the_detector_says():
    """An alarm of the end that claims to be of the first iteration comes last, and is not early."""
    late = replace(HIT, iteration=1, seen=30)
    row = one([record(alarms=[late]), record("fixed")])
    assert (row.delay_median, row.claimed_delay_median, row.early, row.detected) == (25, -4, 0, 1)
    both = outcomes([record(alarms=[late, replace(HIT, seen=7, code="first")])], RULES).iloc[0]
    assert (both.delay, both.claimed_delay) == (2, 2)


def test_hits_before_the_trigger_are_counted_apart():
    early = replace(HIT, iteration=4)
    found = [
        record(alarms=[early, HIT]), record("fixed"),
        record(case="two", alarms=[HIT]), record("fixed", "two"),
        record(case="three", alarms=[early], benign=True), record("fixed", "three", benign=True),
    ]  # fmt: skip
    row = one(found)
    assert (row.early, row.detected, row.detected_n, row.paired, row.benign_detected) == (1, 1, 2, 1, 0)
    assert row.claimed_delay_median == 2, "delays are of hits"


def test_benign_cases_and_controls_are_counted_apart():
    found = [
        record(alarms=[HIT]), record("fixed"), record(case="small", alarms=[HIT], benign=True),
        record("fixed", "small", benign=True), record("control", "gan", [HIT]), record("control", "rnn"),
    ]  # fmt: skip
    row = one(found)
    assert (row.detected, row.detected_n, row.benign_detected, row.benign_paired, row.benign_n) == (1, 1, 1, 1, 1)
    assert (row.false_controls, row.false_controls_n, row.false_fixed_n) == (1, 2, 2)


def test_rules_and_kinds_of_references_are_scored_apart():
    rules = {"d": {"all": Rule("info"), "strict": Rule("error")}}
    found = [record(alarms=[Alarm("c", "m", "info")]), record(references="cross", alarms=[HIT])]
    table = scores(outcomes(found, rules)).set_index(["references", "rule"]).detected
    assert dict(table) == {("cross", "all"): 1, ("cross", "strict"): 1, ("none", "all"): 1, ("none", "strict"): 0}


@pytest.mark.parametrize(
    "alarm, expected",
    [
        (Alarm("c", "m", "error", api="torch.optim.Optimizer.zero_grad"), "exact"),
        (Alarm("c", "m", "error", file="program.py", line=40), "exact"),
        (Alarm("c", "m", "error", file="program.py", line=45), "near"),
        (Alarm("c", "m", "error", file="program.py", line=46), "no"),
        (Alarm("c", "m", "error", file="images.py", line=40), "no"),
        (Alarm("c", "m", "error", api="torch.optim.Adam.zero_grad"), "near"),
        (Alarm("c", "m", "error", line=40), "no"),
        (Alarm("c", "m", "error"), "no"),
    ],
)
def test_diagnosis(alarm, expected):
    assert diagnosis(alarm, SITE) == expected


def test_the_invariant_rate_is_of_clean_programs_only():
    found = [
        record(invariants=Invariants(10, 10)), record("fixed", invariants=Invariants(10, 1)),
        record("control", "gan", invariants=Invariants(4, 2)), record("control", "rnn", invariants=Invariants(0, 0)),
    ]  # fmt: skip
    assert one(found).invariant_rate == pytest.approx((0.1 + 0.5) / 2)


def test_overhead_is_the_ratio_of_medians():
    claimed = overhead((1.0, 9.0, 2.0), (3.0, 3.0, 30.0))
    row = one([record(), record("fixed")], overheads=[claimed])
    assert (row.claimed_overhead, row.overhead, row.overhead_of, row.overhead_on) == (1.5, None, "loop", "B/one")
    timed = replace(claimed, bare_wall=(4.0, 4.0, 5.0), watched_wall=(6.0, 5.0, 7.0))
    row = one([record(), record("fixed")], overheads=[timed])
    assert (row.claimed_overhead, row.overhead) == (1.5, 1.5), "6 / 4 by the clock outside"
    assert one([record()]).overhead is None


def test_an_overhead_without_buggy_programs_is_not_drawn(tmp_path):
    table = outcomes([record("fixed")], RULES)
    assert draw(table, scores(table, [overhead((1.0,), (1.1,))]), tmp_path, "png") == []


def test_everything_is_written_and_drawn(tmp_path):
    found = [record(alarms=[HIT]), record("fixed"), record("control", "gan"), record(case="two", status="timeout")]
    table = outcomes(found, RULES)
    scored = scores(table, [overhead((1.0,), (1.1,))])
    paths = [*report.write(scored, table, tmp_path), *draw(table, scored, tmp_path, "png")]
    assert {path.name for path in paths} == {"scores.json", "scores.csv", "outcomes.csv", "matrix.png", "overhead.png"}
    assert json.loads((tmp_path / "scores.json").read_text())[0]["paired"] == 1
    assert list(pd.read_csv(tmp_path / "outcomes.csv").delay.dropna()) == [2]
    line = dict(zip(*report.rows(scored), strict=True))
    assert (line["DETECTOR"], line["DETECTED"], line["OVERHEAD"], line["DID NOT RUN"]) == (
        "d",
        "1/2",
        "1.10",
        "1 timeout",
    )
