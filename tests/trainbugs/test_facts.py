"""Facts of bugs and cases: their values in documents, in tables, and for readers."""

import math

import pytest
from support.copies import replace
from support.toy import toy_config

from runner.bugs.labels import Versions
from trainbugs.facts import BUG_FACTS, CASE_FACTS, BugCase


@pytest.fixture
def subject(toy):
    bug = toy.bug
    return BugCase(bug, bug.cases["only"])


@pytest.mark.parametrize(
    "name, value, cell, shown",
    [
        ("id", "Toy-1/only", "Toy-1/only", "Toy-1/only"),
        ("seeds", (0, 1), "0, 1", "0, 1"),
        ("benign", False, False, "False"),
        ("needs", (), "", "-"),
        ("expectations", ["buggy stays low", "fixed is higher by 3"],
         "buggy stays low\nfixed is higher by 3", "buggy stays low\nfixed is higher by 3"),
        ("harm", "reported", "reported", "reported"),
        ("fix", "proposed", "proposed", "proposed"),
        ("retired", None, None, "-"),
        ("headline", "The one case", "The one case", "The one case"),
    ],
)  # fmt: skip
def test_a_fact_of_a_case_in_its_three_forms(subject, name, value, cell, shown):
    fact = CASE_FACTS[name]
    assert fact.value(subject) == value
    assert fact.cell(subject) == cell
    assert fact.text(subject) == shown


def test_a_number_that_is_not_known_is_nan_in_a_table(subject):
    fact = CASE_FACTS["seconds"]
    assert fact.value(subject) is None
    assert math.isnan(fact.cell(subject))
    assert fact.text(subject) == "-"


def test_a_case_has_its_own_title_and_its_bug_s(subject):
    assert CASE_FACTS["title"].value(subject) == "The one case"
    assert CASE_FACTS["bug_title"].value(subject) == "A toy"
    assert CASE_FACTS["bug"].value(subject) == "Toy-1"


def test_a_retired_bug_says_so_in_its_headline(subject):
    retired = replace(subject.bug, retired="2026-11-01: a test")
    assert BUG_FACTS["headline"].text(retired) == "(retired) A toy"


def test_versions_are_words_for_a_reader_and_a_text_in_a_table(subject):
    versions = Versions(package="torch", versions=("2.2.2",), change="https://example.org/1")
    bug = replace(subject.bug, affected=versions)
    assert BUG_FACTS["affected"].text(bug) == "torch 2.2.2 by https://example.org/1"
    assert BUG_FACTS["affected"].cell(bug) == "torch 2.2.2 by https://example.org/1"
    assert list(BUG_FACTS["affected"].value(bug)["versions"]) == ["2.2.2"]


def test_facts_of_provenance_are_those_of_the_case(toy):
    cases = toy_config()["cases"]
    cases["only"]["provenance"] = toy_config()["provenance"] | {"realism": "adapted"}
    toy.configure(cases=cases)
    bug = toy.bug
    assert BUG_FACTS["realism"].value(bug) == "original"
    assert CASE_FACTS["realism"].value(BugCase(bug, bug.cases["only"])) == "adapted"
    assert BUG_FACTS["realisms"].value(bug) == ["adapted"]
    assert BUG_FACTS["derived_from"].cell(bug) == "https://example.org/toy"


def test_every_fact_can_be_taken_of_a_bug_that_says_nothing_more_than_it_must(toy):
    toy.configure(provenance=None, declared=None)
    bug = toy.bug
    for fact in BUG_FACTS.values():
        fact.text(bug)
        fact.cell(bug)
    for case_fact in CASE_FACTS.values():
        case_fact.text(BugCase(bug, bug.cases["only"]))
