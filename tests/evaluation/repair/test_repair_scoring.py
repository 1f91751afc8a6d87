"""Scores of repairers: all tasks count, and cases of one family are no independent ones."""

import pytest
from msgspec import structs

from evaluation.repair.grading import Grade, Varied
from evaluation.repair.scoring import ROW, score_repairs, score_row
from evaluation.scoring.intervals import wilson

FAMILIES = {"A/x": "A", "A/y": "A", "B/x": "B", "C/x": "C"}


def graded(case, outcome="FIXED", same=(0, 1), changed=2, real=1, at_site=None):
    return Grade(
        "0" * 16,
        "mine",
        case,
        outcome,
        "",
        seeds=(0, 1),
        same=same,
        changed=changed,
        real=real,
        at_site=at_site,
    )


def score(*grades):
    (result,) = score_repairs(grades, FAMILIES)
    return result


def test_a_task_without_a_patch_is_not_mended():
    result = score(graded("B/x"))
    assert (result.patches, result.fixed, result.tasks) == (1, 1, 4)


@pytest.mark.parametrize("outcome", ["PARTLY", "NOT FIXED", "REFUSED", "INVALID"])
def test_other_grades_do_not_count(outcome):
    result = score(graded("B/x", outcome))
    assert (result.fixed, result.same) == (0, 0)
    assert (result.changed, result.real) == (None, None)


def test_the_same_numbers_are_asked_of_each_seed():
    same = score(graded("A/x"), graded("B/x", same=(0,)), graded("C/x", same=())).same
    assert same == 1


def test_the_site_counts_where_the_fault_is_in_the_script():
    result = score(graded("A/x", at_site=True), graded("B/x", at_site=False), graded("C/x"))
    assert (result.at_site, result.located) == (1, 2)


def test_the_interval_is_wider_where_a_family_is_all_or_nothing():
    low, high = score(graded("A/x"), graded("A/y")).fixed_interval
    alone = wilson(2, 4)
    assert low < alone[0]
    assert high > alone[1]


def test_each_model_has_a_row():
    grades = [graded("A/x"), Grade("0" * 16, "her", "A/x", "REFUSED", "")]
    rows = [*map(score_row, score_repairs(grades, FAMILIES))]
    assert [row[0] for row in rows] == ["her", "mine"]
    assert rows[0][1] == "1/4"
    assert rows[0][-1] == "-"
    assert rows[1][2].startswith("1/4 [0.")
    assert rows[1][-1] == "2 (1)"


def test_varied_counts_patches_that_are_the_same_with_all_other_parameters():
    tried = ("width = 3", "width = 5")
    grades = [
        structs.replace(graded("A/x"), varied=Varied(tried, tried)),
        structs.replace(graded("A/y"), varied=Varied(tried, tried[:1], "width = 5: why")),
        structs.replace(graded("B/x"), varied=Varied((), ())),
        graded("C/x", "NOT FIXED"),
    ]
    result = score(*grades)
    assert (result.same, result.varied) == (3, 1)
    assert "1/4" in score_row(result)


def test_without_other_parameters_varied_says_nothing():
    result = score(graded("A/x"))
    assert result.varied is None
    assert dict(zip(ROW, score_row(result), strict=True))["VARIED"] == "-"
