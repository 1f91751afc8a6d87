"""What an expectation can say: each word holds of some records and fails of others; what can never
hold is refused.
"""

import json
import re
from typing import Any

import msgspec
import pytest
from support.copies import replace
from support.paths import ROOT
from support.records import record
from support.toy import toy_config

from runner.errors import CatalogError
from runner.expectations.checks import check, check_across
from runner.expectations.expectation import Expectation
from runner.verdicts.affected import findings, mappable
from runner.verdicts.verdict import verify

PAGE = (ROOT / "docs" / "expectations.md").read_text()
RECORDS, *EXAMPLES = (
    json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
)

RUNS: dict[str, list[dict[str, Any]]] = {
    "buggy": [
        {"step": 1, "v": 8.0, "w": 1.0, "pair": [1, 5], "word": "a"},
        {"step": 2, "v": 16.0, "w": 2.0, "pair": [2, 5], "word": "b"},
        {"step": 3, "v": 24.0, "w": 9.0, "pair": [1, 5], "word": "a"},
    ],
    "fixed": [
        {"step": 1, "v": 1.0, "w": 1.0, "pair": [1, 5]},
        {"step": 2, "v": 2.0, "w": 0.0, "pair": [0, 4]},
    ],
}


def expectation(**keys):
    keys = {"statement": "s", "variant": "buggy", "metric": "v", "reduce": "all", "op": "=="} | keys
    return msgspec.convert(keys, Expectation)


def judged(**keys):
    return check(expectation(**keys), 0, RUNS)


def either(expectation, records):
    """Whether it holds of one seed, or across three equal ones."""
    if expectation.across_seeds:
        return check_across(expectation, dict.fromkeys((0, 1, 2), records)).holds
    return check(expectation, 0, records).holds


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["statement"])
def test_the_examples_of_the_page_hold_and_tell_the_variants_apart(example):
    item = msgspec.convert(example, Expectation)
    assert either(item, RECORDS) is True
    if example["statement"] != "it is 3 in step 2":
        swapped = {"buggy": RECORDS["fixed"], "fixed": RECORDS["buggy"]}
        assert either(item, swapped) is False


def test_the_page_has_an_example_of_every_key():
    used = {key for example in EXAMPLES for key in example}
    assert used | {"minus_where"} == set(Expectation.__struct_fields__)


STEP = {"where": {"step": [1, 2]}}


@pytest.mark.parametrize(
    "keys, holding, failing",
    [
        # a ratio
        ({"over": "fixed", "where": {"step": 2}}, 8.0, 7.9),
        ({"over": {"metric": "w"}}, [8.0, 8.0, 24 / 9], [8.0, 8.0, 2.0]),
        ({"over": {"where": {"step": 1}}}, [1.0, 2.0, 3.0], [1.0, 2.0, 2.0]),
        ({"over": {"variant": "fixed", "reduce": "max"}}, [4.0, 8.0, 12.0], [8.0, 8.0, 8.0]),
        # one record subtracted from many
        ({"minus": {"where": {"step": 1}}}, [0.0, 8.0, 16.0], [0.0, 0.0, 0.0]),
        ({"minus_where": {"step": 1}}, [0.0, 8.0, 16.0], [0.0, 0.0, 0.0]),
        ({"minus": "fixed", "minus_where": {"step": 2}}, [6.0, 14.0, 22.0], [7.0, 15.0, 23.0]),
        # the difference of two metrics of one record
        ({"minus": {"metric": "w"}}, [7.0, 14.0, 15.0], [7.0, 14.0, 14.0]),
        ({"minus": {"metric": "w"}, "where": {"step": 3}}, 15.0, 7.0),
        ({"minus": {"metric": "w", "variant": "fixed"}, "where": {"step": 2}}, 16.0, 14.0),
        # an element of a list
        ({"metric": "pair", "index": 0}, [1, 2, 1], [5, 5, 5]),
        ({"metric": "pair", "index": -1}, 5, 1),
        (
            {"metric": "pair", "index": 0, "minus": {"where": {"step": 2}}},
            [-1.0, 0.0, -1.0],
            [1.0, 0.0, 1.0],
        ),
        # the number of different values, or lists
        ({"metric": "pair", "reduce": "distinct"}, 2, 3),
        ({"metric": "word", "reduce": "distinct"}, 2, 3),
        ({"metric": "v", "reduce": "distinct"}, 3, 1),
        # reduce, then subtract
        ({"minus": {"variant": "fixed", "reduce": "mean"}, "reduce": "mean"}, 14.5, 16.0),
        ({"minus": {"reduce": "min"}, "reduce": "max"}, 16.0, 24.0),
        # a relative tolerance
        ({"op": "close", "tolerance": 0.1, "relative": True, "reduce": "last"}, 26.0, 27.0),
        (
            {
                "op": "close",
                "tolerance": 0.1,
                "relative": True,
                "reduce": "last",
                "minus": {"reduce": "max"},
            },
            1e-9,
            -1.0,
        ),
    ],
)
def test_both_sides(keys, holding, failing):
    if keys.get("minus", {}) == {"reduce": "max"}:  # a difference of 0 is 10 % of nothing
        holding, failing = None, failing
    else:
        assert judged(**keys, value=holding).holds is True
    assert judged(**keys, value=failing).holds is False


def test_a_tolerance_is_absolute_unless_it_says_otherwise():
    assert judged(op="close", tolerance=0.1, reduce="last", value=26.0).holds is False
    assert judged(op="close", tolerance=2.0, reduce="last", value=26.0).holds is True
    explanation = judged(
        op="close", tolerance=0.1, relative=True, reduce="last", value=26.0
    ).explanation
    assert explanation == "last 24, expected close 26 ± 0.1 of it"
    assert judged(metric="w", minus={"reduce": "max"}, op="close", reduce="min", value=-8.0, tolerance=0.1,
                  relative=True).holds is True  # fmt: skip


def test_equal_numbers_are_one_value_whatever_their_type():
    values: list[object] = [1, 1.0, [1], [1.0]]
    runs = {"buggy": [{"v": value} for value in values]}
    assert check(expectation(reduce="distinct", value=2), 0, runs).holds is True


@pytest.mark.parametrize(
    "keys, words",
    [
        ({"minus": "fixed", "value": 0}, "3 values minus 2 values: if config.json means other records, let `where`"),
        ({"minus": {"where": {"word": "a"}}, "value": 0}, "2 values: .* `where` and that of `minus` pick as many"),
        ({"minus_where": {"word": "a"}, "value": 0}, "2 values: .* `where` and `minus_where` pick as many"),
        ({"over": "fixed", "value": 0}, "3 values over 2 values: .* `where` and that of `over` pick as many"),
        ({"metric": "v", "over": {"variant": "fixed", "metric": "w", "where": {"step": 2}}, "value": 0},
         "8.0 cannot be divided by 0.0"),
        ({"metric": "pair", "over": "fixed", "where": {"step": 1}, "value": 0}, "by .*; name an element .*index"),
        ({"metric": "pair", "index": 2, "value": 0}, "is \\[1, 5\\], which has no element 2"),
        ({"metric": "pair", "index": -3, "value": 0}, "has no element -3"),
        ({"metric": "v", "index": 0, "value": 0}, "is 8.0, which has no element 0"),
        ({"metric": "word", "over": {"metric": "v"}, "value": 0}, "'a' cannot be divided by 8.0"),
        ({"metric": "word", "minus": {"reduce": "max"}, "value": 0}, "max needs numbers"),
        ({"metric": "pair", "value": 0}, "expected one value in each record; name an element by `index`"),
        ({"metric": "x", "minus": {"metric": "v"}, "value": 0}, "'x' is missing in record 1 of variant buggy and"),
        ({"metric": "words", "value": 0}, "and in all others \\(did you mean word\\?\\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_says_why(keys, words):
    result = judged(**keys)
    assert result.holds is None, result.explanation
    assert re.search(words, result.explanation), result.explanation


def test_lists_of_another_length_are_said_to_be():
    short = judged(value=[8.0, 16.0])
    assert short.holds is False
    assert short.explanation.endswith("expected == [8, 16]: 3 values, and `value` lists 2")
    assert judged(op="!=", value=[8.0]).explanation.endswith(": 3 values, and `value` lists 1")
    assert judged(value=[8.0, 16.0, 24.0]).explanation == "all [8, 16, 24], expected == [8, 16, 24]"


def test_a_metric_of_some_records_asks_for_where():
    runs = {"buggy": [{"loss": 1.0}, {"loss": 1.0}, {"summary": 2.0}]}
    explanation = check(expectation(metric="loss", value=1.0), 0, runs).explanation
    assert explanation.endswith(
        "record 3 of variant buggy, 1 of 3 lack it: add `where`, which picks those that have it"
    )


@pytest.mark.parametrize(
    "keys, words",
    [
        ({"over": "fixed", "minus": "fixed"}, "over: the values are subtracted or divided"),
        (
            {"over": "fixed", "minus_where": {"step": 1}},
            "over: the values are subtracted or divided",
        ),
        (
            {"minus": {"metric": "w"}, "minus_where": {"step": 1}},
            "minus_where: `minus` is an object",
        ),
        ({"minus": {}}, "expected some of variant, metric, where, reduce"),
        ({"minus": {"colour": 1}}, "unknown field `colour`"),
        ({"minus": "buggy"}, "metric: 'v' of buggy is subtracted from itself"),
        ({"over": {"metric": "v", "where": {}}}, "metric: 'v' of buggy is divided by itself"),
        ({"reduce": "last", "value": [1]}, "value: a list as value needs reduce all, not last"),
        ({"op": "<=", "value": "x"}, "value: is 'x', and <= compares numbers"),
        ({"reduce": "mean", "value": "x"}, "value: is 'x', and a number is compared"),
        ({"minus": "fixed", "value": "x"}, "value: is 'x', and a number is compared"),
        ({"across_seeds": "mean"}, "across_seeds: needs one number of each seed"),
        ({"relative": True}, "relative: needs op close"),
        (
            {"relative": True, "op": "close", "tolerance": 1, "value": 0},
            "relative: needs op close, and a value",
        ),
        ({"tolerance": 1}, "`close` needs the key 'tolerance'"),
    ],
)
def test_what_can_never_be_decided_is_refused_before_anything_runs(keys, words):
    with pytest.raises(msgspec.ValidationError, match=re.escape(words)):
        expectation(**{"value": 1} | keys)


def test_the_message_names_the_key_of_the_file(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"][1] |= {"over": "buggy"}
    toy.configure(cases=config["cases"])
    with pytest.raises(
        CatalogError,
        match=r"cases\.only\.expectations\[1\]\.over: the values are subtracted or div",
    ):
        _ = toy.bug


def across(toy, **keys):
    """The toy bug, whose first expectation is about all seeds together: buggy ends at 3 + seed."""
    config = toy_config()
    config["cases"]["only"]["expectations"][0] |= {
        "across_seeds": "mean",
        "op": "==",
        "value": 3.5,
    } | keys
    toy.configure(cases=config["cases"])
    return toy.bug.cases["only"]


def runs(seeds=(0, 1)):
    records = []
    for seed in seeds:
        records.append(record("buggy", seed, [step + seed for step in (1, 2, 3)]))
        records.append(record("fixed", seed, [2 * step + seed for step in (1, 2, 3)]))
    return records


def test_a_statistic_over_seeds_is_one_check_of_the_case(toy):
    verdict = verify(across(toy), runs())
    assert verdict.outcome == "REPRODUCED"
    assert len(verdict.checks) == 3
    first = verdict.checks[0]
    assert (first.seed, first.explanation) == (None, "mean 3.5 of last [3, 4], expected == 3.5")
    assert repr(first) == "Check('buggy stays low', all seeds, holds)"


@pytest.mark.parametrize(
    "statistic, value, outcome",
    [("mean", 3, "NOT REPRODUCED"), ("min", 3, "REPRODUCED"), ("min", 4, "NOT REPRODUCED"), ("max", 4, "REPRODUCED"),
     ("max", 3, "NOT REPRODUCED"), ("distinct", 2, "REPRODUCED"), ("distinct", 1, "NOT REPRODUCED")],
)  # fmt: skip
def test_statistics_over_seeds(toy, statistic, value, outcome):
    verdict = verify(across(toy, across_seeds=statistic, value=value), runs())
    assert verdict.outcome == outcome
    if outcome != "REPRODUCED":
        assert verdict.reason.startswith(f"all seeds: buggy stays low: {statistic} ")


def test_one_seed_that_cannot_be_decided_makes_all_of_them_undecided(toy):
    spoilt = runs()
    spoilt[2] = replace(spoilt[2], metrics=({"epoch": 1}, {"epoch": 2}, {"epoch": 3}))
    verdict = verify(across(toy), spoilt)
    assert verdict.outcome == "INVALID"
    assert verdict.reason.startswith("all seeds: seed 1: metric 'accuracy' is missing")


def test_maps_of_versions_run_one_seed_and_leave_statistics_over_seeds_out(toy):
    case = across(toy)
    assert not mappable(case)
    buggy_alone = {
        "statement": "3",
        "variant": "buggy",
        "metric": "accuracy",
        "reduce": "last",
        "op": "==",
        "value": 3,
    }
    both = [
        buggy_alone,
        buggy_alone | {"variant": "fixed", "value": 6},
        buggy_alone | {"across_seeds": "mean", "value": 99},
    ]
    config = toy_config()
    config["cases"]["only"]["expectations"] = both
    toy.configure(cases=config["cases"])
    assert mappable(toy.bug.cases["only"])
    buggy = [
        replace(run, torch="2.0", environment="toy") for run in runs((0,)) if run.variant == "buggy"
    ]
    assert findings(toy.bug, buggy)[0].reason == "1 checks of the buggy variant hold"


def test_no_case_is_reproduced_by_expectations_about_one_variant(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"] = config["cases"]["only"]["expectations"][:1]
    toy.configure(cases=config["cases"])
    verdict = verify(toy.bug.cases["only"], runs())
    assert (verdict.outcome, verdict.reason) == (
        None,
        "no verdict: no expectation is about variant fixed",
    )
