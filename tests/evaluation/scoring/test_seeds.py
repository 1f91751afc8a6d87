"""How answers agree over seeds, counted by hand."""

import pytest
from support.checks import HIT, record

from evaluation.catalog.rule_settings import RuleSetting
from evaluation.model import Rule
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from evaluation.scoring.seeds import by_seed, to_read

RULES = {"d": {"default": Rule()}, "e": {"default": Rule()}}


def pair(case, seed, detected=True, accused=False, **changes):
    both = (("buggy", detected), ("fixed", accused))
    return [
        record(kind, case, (HIT,) if alarms else (), seed=seed, **changes) for kind, alarms in both
    ]


def table(*checks):
    return by_seed(outcomes(checks, RULES))


def test_a_case_counts_once_whatever_its_seeds_say():
    checks = [
        *pair("always", 0), *pair("always", 1), *pair("always", 2),
        *pair("later", 0, detected=False), *pair("later", 1), *pair("later", 2, detected=False),
        *pair("accused", 0), *pair("accused", 1, accused=True),
        *pair("never", 3, detected=False), *pair("never", 1, detected=False),
    ]  # fmt: skip
    (row,) = table(*checks).to_dict("records")
    assert row["seeds"] == 3
    assert row["paired_n"] == 4
    assert row["false_fixed_n"] == 4
    assert [row[f"paired_{measure}"] for measure in ("first", "always", "ever")] == [2, 1, 3]
    assert [row[f"false_fixed_{measure}"] for measure in ("first", "always", "ever")] == [0, 0, 1]


def test_the_first_seed_is_the_smallest_however_they_are_sorted():
    (row,) = table(*pair("one", 4), *pair("one", 2, detected=False)).to_dict("records")
    assert row["paired_first"] == 0
    assert row["paired_ever"] == 1


def test_cases_of_one_seed_benign_ones_and_controls_do_not_count():
    benign = [*pair("benign", 0, benign=True), *pair("benign", 1, benign=True)]
    controls = [record("control", "gan", (HIT,), seed=seed) for seed in (0, 1)]
    assert table(*pair("one", 0), *benign, *controls).empty
    assert by_seed(outcomes([], RULES)).empty
    (row,) = table(*pair("one", 0), *pair("two", 0), *pair("two", 1), *benign, *controls).to_dict(
        "records"
    )
    assert row["paired_n"] == 1
    assert row["false_fixed_ever"] == 0


def test_cases_of_one_name_in_two_bugs_are_two():
    counted = table(
        *pair("one", 0), *pair("one", 1), *pair("one", 0, bug="C"), *pair("one", 1, False, bug="C")
    )
    assert counted[["paired_n", "paired_always", "paired_ever"]].values.tolist() == [[2, 1, 2]]


def test_a_fixed_program_on_which_it_did_not_run_by_one_seed_is_not_counted():
    checks = [
        *pair("one", 0),
        *pair("one", 1)[:1],
        record("fixed", "one", (HIT,), "timeout", seed=1),
    ]
    (row,) = table(*checks).to_dict("records")
    assert row["paired_always"] == 0
    assert row["paired_ever"] == 1
    assert row["false_fixed_n"] == 0


@pytest.mark.parametrize("rule_count", [1, 9])
def test_of_many_rows_those_are_shown_that_the_first_table_shows(rule_count):
    """Where rules are chosen, and there are many rows, the others are in the file alone."""
    rules = {"d": {f"rule-{n}": Rule() for n in range(rule_count)}}
    table = outcomes([*pair("one", 0), *pair("one", 1)], rules)
    settings = {"d": RuleSetting(("rule-0",), "authors", "its manual")}
    scored = scores(table, settings=settings)
    rows = to_read(by_seed(table), scored).rows
    assert rows[0][1:4] == ["PAIRED, FIRST", "PAIRED, EVERY", "PAIRED, ANY"]
    assert rows[1:] == [["d (rule-0)", "1/1", "1/1", "1/1", "0/1", "0/1", "0/1"]]
    assert len(by_seed(table)) == rule_count
    assert scored.chosen.isna().sum() == (rule_count == 1)
