"""Whole runs: as many records as the case says, none of them twice; anything else is INVALID."""

import pytest
from support.copies import replace
from support.records import record
from support.toy import SCRIPT, alone, of_any_length, toy_config

from runner.bugs.figures import Heatmap, Line, Panel, Plot
from runner.results.record import read_record
from runner.verdicts.affected import findings
from runner.verdicts.complete_runs import not_whole, numbers
from runner.verdicts.verdict import verify

EPOCHS = SCRIPT.replace('range(1, config["num_epoch"] + 1)', "EPOCHS")


def script(value, epochs):
    return EPOCHS.replace("VALUE", value).replace("EPOCHS", epochs)


@pytest.mark.parametrize(
    "epochs, reason",
    [
        ("(1, 2)", "expected 3 records, found 2"),
        ("(1, 2, 3, 4)", "expected 3 records, found 4"),
        ("(1, 2, 3) * 2", "expected 3 records, found 6"),
        ("(1, 2, 2)", "two records have epoch = 2"),
    ],
)
def test_a_run_that_is_not_whole_is_invalid_and_done_again(toy, epochs, reason):
    toy.write("buggy.py", script("1", epochs))
    outcome = toy.run(seeds=(0,))
    record = outcome.records[0]
    assert (outcome.verdict.outcome, outcome.verdict.reason) == (
        "INVALID",
        f"buggy seed 0: not whole: {reason}",
    )
    assert (record.status, record.reason, record.metrics, record.whole) == (
        "not whole",
        reason,
        (),
        3,
    )
    assert toy.run(seeds=(0,)).records[0].started != record.started


def test_a_record_says_of_how_many_records_a_whole_run_is(toy):
    outcome = toy.run(seeds=(0,))
    assert [record.whole for record in outcome.records] == [3, 3]
    path = next(toy.results.rglob("buggy-seed0-*.json"))
    assert read_record(path).whole == 3
    assert '"whole": 3' in path.read_text()


def test_what_no_case_says_is_not_judged(toy):
    of_any_length(toy)
    toy.write("buggy.py", script("1", "(1, 3, 3)"))
    outcome = toy.run(seeds=(0,))
    assert outcome.verdict.outcome == "REPRODUCED"
    assert outcome.records[0].whole is None


def test_records_of_earlier_runs_are_judged_by_the_present_number(toy):
    toy.run(seeds=(0,))
    config = toy_config()
    config["cases"]["only"]["records"] = 4
    toy.configure(cases=config["cases"])
    outcome = toy.run(seeds=(0,))
    assert (
        outcome.verdict.reason
        == "buggy seed 0: not whole: expected 4 records, found 3 (and 1 more)"
    )


def with_two_lengths(toy):
    """The toy bug whose buggy script takes five epochs; the case that says so."""
    config = toy_config()
    variants = {"buggy": {"script": "buggy.py", "records": 5}, "fixed": {"script": "fixed.py"}}
    config["cases"]["only"]["variants"] = variants
    config["cases"]["only"]["expectations"][1] |= {
        "minus_where": {"epoch": 3},
        "where": {"epoch": 3},
    }
    toy.configure(cases=config["cases"])
    return toy.bug.cases["only"]


def test_variants_may_differ(toy):
    case = with_two_lengths(toy)
    assert numbers(case, "buggy") == (5, 3)
    assert numbers(case, "fixed") == (3, 5)
    whole = [record("buggy", 0, (1, 2, 3, 4, 5)), record("fixed", 0, (2, 4, 6))]
    assert verify(case, whole).outcome == "REPRODUCED"
    cut = verify(case, [record("buggy", 0, (1, 2, 3, 4)), whole[1]])
    assert cut.reason == "buggy seed 0: not whole: expected 5 or 3 records, found 4"


def test_the_fixed_script_in_the_place_of_the_buggy_one_is_a_whole_run(toy):
    """It is for the expectations to tell it."""
    case = with_two_lengths(toy)
    fixed = record("fixed", 0, (2, 4, 6))
    assert verify(case, [replace(fixed, variant="buggy"), fixed]).outcome == "NOT REPRODUCED"


def test_in_a_map_of_versions_a_run_is_as_long_as_that_of_either_variant(toy):
    case = alone(toy).cases["only"]
    variants = {
        name: replace(v, records=5 if name == "buggy" else 3)
        for name, v in case.program.variants.items()
    }
    bug = replace(
        toy.bug, cases={"only": replace(case, program=replace(case.program, variants=variants))}
    )

    def state(accuracies):
        return findings(bug, [record("buggy", 0, accuracies, environment="torch-2", torch="2")])[0]

    assert state((1, 1, 2, 2, 3)).state == "affected"
    assert state((2, 4, 6)).state == "not affected"
    assert (state((2, 4, 4, 6)).state, state((2, 4, 4, 6)).reason[:18]) == (
        "INVALID",
        "seed 0: not whole:",
    )


MODES = Plot(
    "epoch",
    tuple(Panel("loss", (Line("loss", {"mode": mode}, label=mode),)) for mode in ("a", "b")),
)
HEATMAP = Plot("epoch", heatmap=Heatmap(("mode",), "epoch", "loss", "loss", "word"))


@pytest.mark.parametrize("plot", [MODES, HEATMAP])
@pytest.mark.parametrize(
    "points, expected",
    [
        ([("a", 1), ("a", 2), ("b", 1), ("b", 2)], None),
        ([("a", 1), ("a", 2), ("a", 1), ("a", 2)], "epoch = 1"),
        ([("b", 2), ("a", 1), ("b", 1), ("b", 2)], "epoch = 2"),
        ([("a", None), ("a", None), ("b", 1), ("b", 2)], None),
    ],
)
def test_a_point_of_a_figure_is_there_once(toy, plot, points, expected):
    case = toy.bug.cases["only"]
    variants = {
        name: replace(variant, records=4) for name, variant in case.program.variants.items()
    }
    case = replace(case, plot=plot, program=replace(case.program, variants=variants))
    metrics = [
        {"mode": mode, "loss": 1.0} | ({"epoch": epoch} if epoch else {}) for mode, epoch in points
    ]
    reason = not_whole(case, "buggy", metrics)
    assert (
        (reason is None) if expected is None else (reason is not None and reason.endswith(expected))
    )
