"""A detector against others, on made records with known answers."""

import pytest
from matplotlib.patches import Rectangle
from msgspec.structs import replace
from support.checks import HIT, record

from evaluation.catalog.rule_settings import RuleSetting
from evaluation.model import Rule
from evaluation.scoring.against import compare_against, tables
from evaluation.scoring.exact_test import family_test
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from plots.detector_against import against_figure, draw_against

RULES = {name: {"default": Rule()} for name in ("mine", "other", "memory")}


def pairs(detector, hits):
    """The records of a detector on bugs B0, B1 …, which it finds or not."""
    checks = []
    for number, hit in enumerate(hits):
        bug = f"B{number}"
        checks += [record(alarms=[HIT] * hit, bug=bug), record("fixed", bug=bug)]
    return [replace(check, detector=detector) for check in checks]


def compared(*checks, mine=("mine",), rules=RULES, settings=None):
    table = outcomes(checks, rules)
    return compare_against(table, scores(table, settings=settings), mine)


def test_a_pair_counts_the_cases_that_one_alone_finds():
    mine, other = pairs("mine", (1, 0, 1, 0)), pairs("other", (1, 1, 0, 0))
    (row,) = compared(*mine, *other).versus.to_dict("records")
    assert (row["first"], row["second"], row["programs"]) == ("mine", "other", 4)
    assert (row["only_first"], row["only_second"], row["p_bugs"], row["p_holm"]) == (1, 1, 1, 1)


def test_yours_is_first_whatever_its_name_is():
    mine, other = pairs("mine", (1, 1, 1, 0)), pairs("other", (0, 0, 0, 1))
    rows = [compared(*mine, *other, mine=(name,)).versus.iloc[0] for name in ("mine", "other")]
    assert [(row["first"], row.second) for row in rows] == [("mine", "other"), ("other", "mine")]
    assert [(row.only_first, row.only_second) for row in rows] == [(3, 1), (1, 3)]
    assert [(row.bugs_first, row.bugs_second) for row in rows] == [(3, 1), (1, 3)]


def test_cases_that_yours_miss_and_cases_that_nobody_finds():
    answers = compared(*pairs("mine", (1, 0, 0)), *pairs("other", (1, 1, 0)))
    assert answers.missed.case.tolist() == ["B1/one"]
    assert answers.missed.others.tolist() == ["other"]
    assert answers.found_by_nobody.case.tolist() == ["B2/one"]


def test_a_case_that_yours_never_met_is_not_missed():
    answers = compared(*pairs("mine", (1,)), *pairs("other", (1, 1)))
    assert answers.cases.case.tolist() == ["B0/one"]


def test_nobody_misses_a_case_that_no_other_row_has_met():
    answers = compared(*pairs("mine", (0, 0)), *pairs("other", (0,)))
    assert answers.cases.met_by_others.tolist() == [True, False]
    assert answers.found_by_nobody.case.tolist() == ["B0/one"]


def test_negative_controls_are_left_out_unless_they_are_yours():
    checks = [*pairs("mine", (0,)), *pairs("memory", (1,))]
    assert compared(*checks).missed.empty
    assert compared(*checks, mine=("memory",)).versus.second.tolist() == ["mine"]


def test_rules_that_are_not_a_setting_are_left_out():
    rules = RULES | {"other": {"a": Rule(), "b": Rule()}}
    settings = {"other": RuleSetting(("b",), "authors", "its manual")}
    checks = [*pairs("mine", (0,)), *pairs("other", (1,))]
    assert compared(*checks, rules=rules, settings=settings).versus.second.tolist() == ["other (b)"]


def test_the_correction_is_for_the_pairs_that_are_shown():
    rules = RULES | {"third": {"default": Rule()}}
    checks = [*pairs("mine", [1] * 6), *pairs("other", [0] * 6), *pairs("third", [0] * 6)]
    versus = compared(*checks, rules=rules).versus
    assert versus.p_bugs.tolist() == [0.03125, 0.03125]
    assert versus.p_holm.tolist() == [0.0625, 0.0625]


def test_tables_that_say_nothing_are_left_out():
    shown = tables(compared(*pairs("mine", (1,)), *pairs("other", (0,))))
    assert [table.title.split()[0] for table in shown] == ["Pairs"]
    assert shown[0].rows[1] == ["mine", "other", "1", "1:0", "1:0", "1", "1"]


def test_the_figure_has_a_bar_for_each_pair(tmp_path):
    versus = compared(*pairs("mine", (1, 1, 0)), *pairs("other", (0, 0, 1))).versus
    axes = against_figure(versus).axes[0]
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [bar.get_width() for bar in bars] == [2, -1]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["other"]
    assert draw_against(versus, tmp_path / "a.svg").is_file()
    assert draw_against(versus.iloc[:0], tmp_path / "b.svg") is None


@pytest.mark.parametrize(
    "answers, families, p",
    [
        ([("f", True, False)] * 5, (1, 0), 1),
        ([(f"f{n}", True, False) for n in range(6)], (6, 0), 0.03125),
        ([("f", True, False), ("f", False, True)], (0, 0), 1),
    ],
)
def test_a_family_counts_once(answers, families, p):
    tested = family_test(answers)
    assert (tested.families_first, tested.families_second) == families
    assert tested.p_families == p
