"""What the sanitizer says of programs that others have written: the committed table,
the judgements, and what the pages say of them.
"""

import csv
import importlib.util
import json
import sys

import pytest
from support.paths import ROOT

FOLDER = ROOT / "benchmarks" / "others"
PROGRAMS = {
    program["name"]: program for program in json.loads((FOLDER / "programs.json").read_text())
}
ROWS = list(csv.DictReader((FOLDER / "table.csv").read_text().splitlines()))
JUDGEMENTS = json.loads((FOLDER / "judgements.json").read_text())
LICENCES = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
VERDICTS = {"error": {"true finding", "false alarm"}, "info": {"fair", "needless"}}


def load(name):
    specification = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


RATE = load("rate")
TABLES = {
    "sanitizer": RATE.table(),
    "sanitizer-7": RATE.table("table-7.csv"),
    "sanitizer-4": RATE.table("table-4.csv"),
}
by_row = pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])


def text(*parts):
    return " ".join(ROOT.joinpath(*parts).read_text().split())


def test_each_row_is_of_a_program_at_its_commit_in_their_order():
    names = [row["name"] for row in ROWS]
    assert names == [name for name in PROGRAMS if name in names]
    for row in ROWS:
        program = PROGRAMS[row["name"]]
        for name in ("repository", "commit", "licence"):
            assert row[name] == program[name]


def test_the_licences_are_permissive():
    assert {row["licence"] for row in ROWS} <= LICENCES


def test_there_are_a_hundred_programs_of_forty_repositories_that_did_steps():
    ran = RATE.watched(ROWS)
    assert len(ran) >= 100
    assert len({row["repository"] for row in ran}) >= 40


@by_row
def test_a_program_without_steps_has_a_reason(row):
    if row["steps"] in ("", "0"):
        assert row["failed"]


@by_row
def test_each_finding_is_judged_with_a_reason(row):
    judged = JUDGEMENTS.get(row["name"], {})
    assert set(judged) == {*row["errors"].split(), *row["advice"].split()}
    for name, judgement in judged.items():
        severity = "error" if name in row["errors"].split() else "info"
        assert judgement["judgement"] in VERDICTS[severity]
        assert judgement["reason"]


@by_row
def test_an_error_that_was_expected_is_a_true_finding(row):
    assert row["wrong"] == " ".join(sorted(PROGRAMS[row["name"]].get("wrong", ())))
    for name in row["wrong"].split():
        assert JUDGEMENTS[row["name"]][name]["judgement"] == "true finding"


@by_row
def test_a_program_that_led_to_a_change_is_marked(row):
    assert row["shown_before"] == PROGRAMS[row["name"]].get("shown_before", "")


def test_all_judged_programs_are_in_the_table():
    assert set(JUDGEMENTS) <= set(PROGRAMS)


def test_package_sets_are_pinned():
    sets = json.loads((FOLDER / "packages.json").read_text())
    for pins in sets.values():
        assert all("==" in pin for pin in pins)
    used = {name for program in PROGRAMS.values() for name in program.get("packages", ())}
    assert used == set(sets)


@pytest.mark.parametrize("version", TABLES)
@pytest.mark.parametrize("page", ["benchmarks/others", "detectors"])
def test_the_pages_have_the_rate(version, page):
    ran = RATE.watched(TABLES[version])
    words = text(page if page != "detectors" else f"detectors/{version}", "README.md")
    assert f"{len(ran)} programs of {len({row['repository'] for row in ran})} repos" in words
    assert str(RATE.falsely_accused(ran)) in words
    assert str(RATE.falsely_accused_at_first(ran)) in words


def watched_names(table):
    """The programs of a table that were watched, in its order."""
    return [row["name"] for row in RATE.watched(table)]


def test_the_versions_have_watched_the_same_programs_but_for_those_that_the_page_names():
    newest, newer, older = map(watched_names, TABLES.values())
    missing = [name for name in older if name not in newer]
    assert newer == [name for name in older if name not in missing]
    page = text("benchmarks", "others", "README.md").partition("Two programs ended")[2]
    assert len(missing) == 2
    assert all(f"`{name}`" in page for name in missing)
    is_back = "language-model-transformer"
    assert newest == [name for name in older if name == is_back or name not in missing]


def test_each_table_is_of_one_state():
    for table in TABLES.values():
        assert len({row["digest"] for row in RATE.watched(table)}) == 1


def test_the_first_programs_are_those_of_the_frozen_version():
    first = ROWS[:37]
    repositories = len({row["repository"] for row in first})
    wrong = sum(bool(row["wrong"]) for row in first)
    sentence = f"of 37 programs that others have written, from {repositories} repositories, "
    assert f"{sentence}it accused {wrong}" in text("detectors", "sanitizer-3", "README.md")


def test_the_page_about_watching_has_the_rate_of_the_version_that_watches():
    rate = RATE.falsely_accused(RATE.watched(TABLES["sanitizer"]))
    assert f"| without these 7 | {rate} |" in text("docs", "watch.md")
