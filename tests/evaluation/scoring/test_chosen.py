"""Which rules of a detector are chosen: those that are declared. No answer has a say."""

import json

import pytest
from support.checks import HIT, record
from support.paths import ROOT

from evaluation.catalog import detectors, development, rule_settings, submissions
from evaluation.catalog.frozen import Frozen
from evaluation.catalog.rule_settings import RuleSetting
from evaluation.model import Rule
from evaluation.scoring import report
from evaluation.scoring.chosen import rejected, without_rejected
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from runner.errors import CatalogError

RULES = {"d": {"any": Rule(), "few": Rule(at_least=2), "many": Rule(at_least=3)}}
FROZEN = {"d": Frozen("1", "2026-01-01", "0" * 64, ("B",))}
FEW = {"d": RuleSetting(("few",), "authors", "its manual")}


def table(checks, settings=FEW, rules=RULES):
    scored = scores(outcomes(checks, rules, FROZEN), settings=settings)
    return scored.set_index("rule", drop=False)


def pair(bug, case, on_buggy, on_fixed):
    return [
        record("buggy", case, [HIT] * on_buggy, bug=bug),
        record("fixed", case, [HIT] * on_fixed, bug=bug),
    ]


def test_the_declared_rule_is_chosen_whatever_it_finds():
    rows = table([*pair("B", "simple", 3, 2), *pair("C", "one", 1, 0)])
    assert rows.paired.to_dict() == {"any": 1, "few": 0, "many": 1}
    assert rows.chosen.to_dict() == {"any": False, "few": True, "many": False}


def test_several_rules_may_be_chosen():
    settings = {"d": RuleSetting(("any", "many"), "benchmark", "versions")}
    rows = table(pair("B", "simple", 2, 1), settings)
    assert rows.chosen.to_dict() == {"any": True, "few": False, "many": True}
    assert rejected(rows) == {("d", "none", "few")}


def test_without_a_declaration_the_rule_called_default_is_chosen():
    rules = {"d": {"default": Rule(), "other": Rule()}}
    rows = table(pair("B", "simple", 1, 0), {}, rules)
    assert rows.chosen.to_dict() == {"default": True, "other": False}


def test_nothing_is_chosen_where_there_is_one_rule_or_none_is_declared():
    checks = pair("B", "simple", 2, 1)
    assert table(checks, {}).chosen.isna().all()
    assert table(checks, rules={"d": {"few": Rule()}}).chosen.isna().all()
    assert list(without_rejected(table(checks, {})).rule) == ["any", "few", "many"]


def test_rules_that_are_not_chosen_can_be_left_out():
    assert list(without_rejected(table(pair("B", "simple", 2, 1))).rule) == ["few"]


def test_each_row_has_the_fewest_and_the_most_that_any_rule_pairs():
    rows = table([*pair("B", "one", 2, 1), *pair("C", "one", 1, 0)])
    assert rows.paired.to_dict() == {"any": 1, "few": 1, "many": 0}
    assert rows.paired_least.to_list() == [0, 0, 0]
    assert rows.paired_most.to_list() == [1, 1, 1]


def test_the_table_to_be_read_says_which_one_it_is():
    rows = table([*pair("B", "one", 2, 1), *pair("C", "one", 1, 0)])
    heading, *lines = report.rows(rows)
    assert heading[-2:] == ["NEW", "CHOSEN"]
    assert [line[-2:] for line in lines] == [["1/1", "-"], ["0/1", "yes"], ["0/1", "-"]]


def test_each_detector_with_several_rules_declares_its_own():
    """By the name of a rule that there is, or as `default`; one rule needs no declaration."""
    settings = rule_settings.load(ROOT)
    assert set(settings) <= set(detectors.names(ROOT))
    for name in detectors.names(ROOT):
        rules = set(detectors.load(ROOT, name).alarm_rules)
        main_rules = set(rule_settings.main_rules(settings, name))
        assert main_rules <= rules or len(rules) == 1, name


def test_a_catalogue_without_the_file_has_no_settings(tmp_path):
    assert rule_settings.load(tmp_path) == {}


@pytest.mark.parametrize(
    "setting, words",
    [
        ({"rules": [], "by": "authors", "why": "w"}, "rules"),
        ({"rules": ["a"], "by": "nobody", "why": "w"}, "by"),
        ({"rules": ["a"], "by": "authors"}, "why"),
    ],
)
def test_a_setting_that_says_too_little_is_named(tmp_path, setting, words):
    folder = tmp_path / "detectors"
    folder.mkdir()
    (folder / "rules.json").write_text(json.dumps({"d": setting}))
    with pytest.raises(CatalogError, match=words):
        rule_settings.load(tmp_path)


def test_the_bugs_by_which_rules_were_declared_are_bugs_and_the_detectors_detectors():
    declared, frozen = development.load(ROOT), submissions.load_frozen(ROOT)
    assert declared.bugs == tuple(sorted(set(declared.bugs)))
    assert len(declared.bugs) == 25
    assert all((ROOT / "bugs" / bug / "config.json").is_file() for bug in declared.bugs)
    assert set(declared.detectors) == set(detectors.names(ROOT)) - {
        "eager-compiled",
        "memory",
        "releases",
        "sanitizer",
        "sanitizer-3",
        "sanitizer-4",
        "sanitizer-7",
        "traincheck",
    }
    assert all(frozen[name].developed_on == declared.bugs for name in declared.detectors)


def test_a_catalogue_without_development_bugs_has_none(tmp_path):
    assert development.load(tmp_path) is None
