"""Two detectors compared, on made records with known answers."""

import pytest
from msgspec.structs import replace
from support.checks import HIT, record

from evaluation.catalog.rule_settings import RuleSetting
from evaluation.model import Rule
from evaluation.scoring.comparison import comparisons
from evaluation.scoring.exact_test import holm, mcnemar
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores

RULES = {name: {"default": Rule()} for name in ("a", "b")}


def check_pair(detector, bug, case="one", hit=False, false=False, **changes):
    """The records of a detector on the pair of a case."""
    pair = record(case=case, alarms=[HIT] * hit), record("fixed", case, [HIT] * false)
    return [replace(check, detector=detector, bug=bug, **changes) for check in pair]


def compared(*records, measure="paired"):
    table = comparisons(outcomes([check for pair in records for check in pair], RULES))
    rows = table[table.measure == measure]
    return rows.iloc[0] if len(rows) else None


@pytest.mark.parametrize(
    # 2 * (1 + 10) / 2^10, as in any table of the sign test
    "b, c, p",
    [
        (1, 9, 0.021484375),
        (9, 1, 0.021484375),
        (0, 6, 0.03125),
        (0, 5, 0.0625),
        (4, 4, 1.0),
        (0, 0, 1.0),
    ],
)
def test_mcnemar(b, c, p):
    assert mcnemar(b, c) == p


def test_holm():
    """By hand: 3 * 0.01, 2 * 0.03, and 0.04, which may not come below the one before."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []


def test_programs_are_counted_where_only_one_alarms():
    ours = [check_pair("a", f"B{n}", hit=n in (0, 10)) for n in range(12)]
    theirs = [check_pair("b", f"B{n}", hit=n < 9 and n > 0 or n in (9, 10)) for n in range(12)]
    row = compared(*ours, *theirs)
    assert row["first"] == "a"
    assert row.second == "b"
    assert row.programs == 12
    assert row.bugs == 12
    assert row.both == 1
    assert row.only_first == 1
    assert row.only_second == 9
    assert row.neither == 1
    assert row.p == 0.021484375
    assert row.p_bugs == 0.021484375
    assert row.p_holm == 0.021484375


def test_a_bug_with_many_cases_counts_once():
    pairs = [
        pair
        for n in range(8)
        for pair in (check_pair("a", "B", f"c{n}", hit=True), check_pair("b", "B", f"c{n}"))
    ]
    row = compared(*pairs, check_pair("a", "C"), check_pair("b", "C", hit=True))
    assert row.only_first == 8
    assert row.only_second == 1
    assert row.p == mcnemar(8, 1)
    assert row.bugs == 2
    assert row.bugs_first == 1
    assert row.bugs_second == 1
    assert row.p_bugs == 1.0


def test_only_programs_that_both_met_are_compared():
    assert compared(check_pair("a", "B", hit=True), check_pair("b", "C", hit=True)) is None
    assert compared(check_pair("a", "B", hit=True), check_pair("b", "B", hit=True, seed=1)) is None
    row = compared(
        check_pair("a", "B", hit=True), check_pair("a", "C", hit=True), check_pair("b", "B")
    )
    assert row.programs == 1
    assert row.only_first == 1


def test_programs_of_another_text_are_not_compared():
    old, new = {"program": "0" * 64}, {"program": "1" * 64}
    assert compared(check_pair("a", "B", **old), check_pair("b", "B", **new)) is None
    assert compared(check_pair("a", "B", **old), check_pair("b", "B", **old)).programs == 1
    assert compared(check_pair("a", "B", **old), check_pair("b", "B")).programs == 1, (
        "one of them was not noted"
    )


def test_what_did_not_run_is_no_detection_and_no_false_alarm():
    failed = check_pair("a", "B", hit=True, status="tool_error")
    assert compared(failed, check_pair("b", "B", hit=True)).only_second == 1
    assert compared(failed, check_pair("b", "B", false=True), measure="false_fixed") is None


def test_benign_cases_are_not_compared():
    assert compared(check_pair("a", "B", benign=True), check_pair("b", "B", benign=True)) is None


def test_pairs_with_a_rejected_rule_are_not_asked_about():
    """Of the two rules of `a` one is declared, so that Holm's correction is for one pair."""
    rules = {"a": {"any": Rule(), "never": Rule(at_least=9)}, "b": {"default": Rule()}}
    pairs = [check_pair(name, f"B{n}", hit=name == "a") for name in ("a", "b") for n in range(6)]
    table = outcomes([check for pair in pairs for check in pair], rules)
    scored = scores(table, settings={"a": RuleSetting(("any",), "authors", "its manual")})
    assert scored.chosen.fillna(True).tolist() == [True, False, True]
    every_pair, without_rejected = (
        measured[measured.measure == "paired"]
        for measured in (comparisons(table), comparisons(table, scored))
    )
    assert every_pair["first"].tolist() == ["a (any)", "a (any)", "a (never)"]
    assert every_pair.p_holm.tolist() == [0.09375, 0.09375, 1]
    assert every_pair.p_bugs.tolist() == [0.03125, 0.03125, 1]
    assert without_rejected.p_bugs.tolist() == [0.03125, 0.03125, 1]
    assert without_rejected.p_holm.isna().tolist() == [True, False, True]
    assert without_rejected.p_holm.tolist()[1] == 0.03125


def test_one_detector_is_compared_with_nothing():
    assert comparisons(outcomes(check_pair("a", "B"), RULES)).empty
    assert comparisons(outcomes([], RULES)).empty
