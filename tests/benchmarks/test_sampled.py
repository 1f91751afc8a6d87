"""The pairs after sampled reports: what the tables hold, and what the pages say of them."""

import importlib.util
import re
import sys

import pytest
from support.paths import ROOT

FOLDER = ROOT / "benchmarks" / "sampled"


def load():
    specification = importlib.util.spec_from_file_location("sampled_watch", FOLDER / "watch.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["sampled_watch"] = module
    specification.loader.exec_module(module)
    return module


WATCH = load()
SAMPLE, PAIRS, ANSWERS = (
    WATCH.read_table(FOLDER / name) for name in ("sample.csv", "pairs.csv", "answers.csv")
)
VERSIONS, HALVES = ("5", "6"), ("development", "test")


def answer(version="6", pair="one", program="buggy", status="0", errors=""):
    return {
        "version": version,
        "pair": pair,
        "program": program,
        "status": status,
        "errors": errors,
    }


def pair(name="one", half="test", known="no"):
    return {"name": name, "half": half, "known": known}


def test_each_query_has_its_results_in_their_order():
    queries = (FOLDER / "queries.txt").read_text().splitlines()
    assert {int(row["query"]) for row in SAMPLE} == set(range(1, len(queries) + 1))
    places = [(int(row["query"]), int(row["rank"])) for row in SAMPLE]
    assert places == sorted(set(places))
    assert max(rank for _, rank in places) <= 12


def test_what_was_taken_is_told_and_what_was_dropped_is_not():
    for row in SAMPLE:
        is_taken = row["decision"] == "taken"
        assert is_taken == bool(row["mechanism"])
        assert is_taken == (row["half"] in HALVES)


def test_the_halves_share_no_report():
    links = {half: {row["link"] for row in SAMPLE if row["half"] == half} for half in HALVES}
    assert not links["test"] & links["development"]
    by_link = {row["link"]: row["half"] for row in SAMPLE if row["half"]}
    assert all(by_link[row["link"]] == row["half"] for row in PAIRS)


def test_each_pair_has_two_programs_that_differ():
    names = {path.name for path in (FOLDER / "pairs").iterdir()}
    assert names == {row["name"] for row in PAIRS}
    for name in names:
        buggy, fixed = (
            (FOLDER / "pairs" / name / f"{program}.py").read_text() for program in WATCH.PROGRAMS
        )
        assert buggy != fixed


@pytest.mark.parametrize("version", VERSIONS)
def test_each_program_has_one_answer(version):
    asked = [(row["pair"], row["program"]) for row in ANSWERS if row["version"] == version]
    assert sorted(asked) == sorted(
        (row["name"], program) for row in PAIRS for program in WATCH.PROGRAMS
    )


def test_a_pair_counts_if_both_ran_and_nobody_knew_the_report():
    answers = [
        answer(errors="cut-off clip"),
        answer(program="fixed", errors="clip"),
        answer(pair="two"),
        answer(pair="two", program="fixed"),
        answer(pair="ended", status="1"),
        answer(pair="ended", program="fixed"),
        answer(pair="seen", errors="clip"),
        answer(pair="seen", program="fixed"),
        answer(version="5"),
    ]
    pairs = [
        pair(),
        pair("two"),
        pair("ended"),
        pair("seen", known="yes"),
        pair("x", "development"),
    ]
    assert WATCH.counts(answers, pairs, "6", "test") == [2, 1, 1]
    assert WATCH.counts(answers, pairs, "5", "test") == [0, 0, 0]


def test_an_error_on_both_programs_finds_nothing():
    answers = [answer(errors="clip"), answer(program="fixed", errors="clip")]
    assert WATCH.counts(answers, [pair()], "6", "test") == [1, 0, 1]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("half", HALVES)
def test_the_page_says_what_the_table_has(version, half):
    text = (FOLDER / "README.md").read_text()
    said = re.search(rf"^\| {version} \| {half}[^|]*\| (\d+) \| (\d+)[^|]*\| (\d+)", text, re.M)
    assert said
    assert list(map(int, said.groups())) == WATCH.counts(ANSWERS, PAIRS, version, half)


def test_the_page_says_how_the_results_were_decided():
    text = (FOLDER / "README.md").read_text()
    groups = {
        "taken": ["taken"],
        "of another framework": ["other-framework"],
        "no cause is named": ["no-cause"],
        "no silent fault, refuted, or no fault of a training": ["loud", "refuted", "not-training"],
        "a feature, a question, speed": ["feature", "question", "speed"],
        "twice, or unreadable": ["double", "unreadable"],
    }
    for name, decisions in groups.items():
        number = sum(row["decision"] in decisions for row in SAMPLE)
        assert f"| {name} | {number} |" in text
    assert len(SAMPLE) == sum(row["decision"] in sum(groups.values(), []) for row in SAMPLE)
