"""Scores of public, perturbed and planted programs side by side, counted by hand."""

import pytest
from msgspec.structs import replace
from support.checks import HIT, record

from evaluation.catalog.rule_settings import RuleSetting
from evaluation.model import Rule
from evaluation.records import Records
from evaluation.scoring.intervals import clustered
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.rewritten import side_by_side, to_read
from evaluation.scoring.scores import scores
from runner.errors import ResultsError


def pair(case, alarms=(HIT,), bug="B", **changes):
    both = (record(case=case, alarms=alarms), record("fixed", case))
    return [replace(check, bug=bug, **changes) for check in both]


def table(*checks):
    rules = {check.detector: {"default": Rule()} for check in checks}
    return side_by_side(Records(checks, (), rules))


def rows(table):
    return to_read(table).rows


def test_kinds_of_programs_are_counted_apart():
    checks = [
        *pair("one"), *pair("two"), *pair("three", ()),
        *pair("one", (), perturb=1), *pair("one", perturb=2), *pair("two", (), perturb=1),
        *pair("no-step", bug="planted-B", plant=1), *pair("no-step", (), bug="planted-C", plant=1),
        *pair("no-step", (), bug="planted-B", plant=2),
    ]  # fmt: skip
    row = table(*checks).iloc[0]
    # Three was not met perturbed; one was, twice.
    assert row.public_detected == 2
    assert row.public_detected_n == 2
    assert row.perturbed_detected == 1
    assert row.perturbed_detected_n == 3
    assert row.perturbed_paired == 1
    assert row.planted_detected == 1
    assert row.planted_detected_n == 3
    # Perturbed programs are of one bug, planted ones of two, one of which came by two seeds.
    assert (row.perturbed_detected_low, row.perturbed_detected_high) == clustered([1], [3])
    assert (row.planted_detected_low, row.planted_detected_high) == clustered([1, 0], [2, 1])
    public, perturbed, planted = (
        f"{count} ({100 * low:.0f}-{100 * high:.0f})"
        for count, (low, high) in (
            ("2/2", clustered([2], [2])),
            ("1/3", clustered([1], [3])),
            ("1/3", clustered([1, 0], [2, 1])),
        )
    )
    assert rows(table(*checks))[1] == ["d", public, "2/2", perturbed, "1/3", planted, "1/3"]


def test_without_perturbed_programs_all_public_ones_count():
    compared = table(*pair("one"), *pair("two", ()), *pair("no-step", bug="planted-B", plant=1))
    assert compared.iloc[0].public_detected_n == 2
    assert rows(compared)[1] == ["d", "1/2 (5-95)", "1/2", "-", "-", "1/1 (21-100)", "1/1"]


def test_each_detector_by_what_it_met():
    other = [replace(check, detector="e") for check in (*pair("one"), *pair("two"))]
    compared = table(*pair("one"), *pair("two"), *pair("one", (), perturb=1), *other)
    counts = [_without_intervals(line[0], line[1], line[3]) for line in rows(compared)[1:]]
    assert counts == [["d", "1/1", "0/1"], ["e", "2/2", "-"]]


def _without_intervals(*cells):
    return [cell.split()[0] for cell in cells]


def test_controls_and_benign_cases_are_in_no_column():
    benign = [replace(check, benign=True) for check in (*pair("one"), *pair("one", perturb=1))]
    compared = table(
        *pair("two"),
        *pair("two", (), perturb=1),
        *benign,
        record("control", "gan", [HIT], perturb=1),
    )
    assert rows(compared)[1][1:5] == ["1/1 (21-100)", "1/1", "0/1 (0-79)", "0/1"]


def test_a_rule_that_came_after_some_of_the_records_is_named():
    assert (
        rows(table(*pair("one", declared={"default": 64 * "0"}), *pair("one", perturb=1)))[1][0]
        == "d (post hoc)"
    )


@pytest.mark.parametrize(
    "rewriting, kind", [({"perturb": 0}, "perturbed"), ({"plant": 3}, "planted")]
)
def test_published_and_rewritten_programs_are_never_counted_together(rewriting, kind):
    """By the one function through which tables, comparisons and figures get records."""
    rules = {"d": {"default": Rule()}}
    with pytest.raises(
        ResultsError, match=f"records of {kind} and public programs, which are not counted together"
    ):
        outcomes([*pair("one"), *pair("two", **rewriting)], rules)
    assert len(outcomes(pair("two", **rewriting), rules)) == 2


def test_where_there_are_many_scores_rejected_rules_are_left_out_of_what_is_read():
    """The file has all of them; nine scores are many, of eight nothing is left out."""
    rules = {"d": {"any": Rule(), **{f"at-least-{n}": Rule(at_least=n) for n in range(2, 10)}}}
    public, settings = pair("one"), {"d": RuleSetting(("any",), "authors", "its manual")}
    table = side_by_side(
        Records([*public, *pair("one", perturb=1)], (), {"d": dict(list(rules["d"].items())[:3])})
    )
    names = {}
    for count in (8, 9):
        some_rules = {"d": dict(list(rules["d"].items())[:count])}
        scored = scores(outcomes(public, some_rules), settings=settings)
        names[count] = [name for name, *_ in to_read(table, scored).rows[1:]]
    assert names[8] == ["d (any)", "d (at-least-2)", "d (at-least-3)"]
    assert names[9] == ["d (any)"]
    assert len(to_read(table).rows) == 4
