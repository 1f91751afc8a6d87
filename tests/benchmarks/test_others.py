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
# What was an error of one version may be advice of another one.
VERDICTS = {
    "error": {"true finding", "false alarm"},
    "info": {"fair", "needless", "true finding"},
}


def load(name):
    specification = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


RATE = load("rate")
TABLES = {
    "10": RATE.table(),
    "8": RATE.table("table-8.csv"),
    "7": RATE.table("table-7.csv"),
    "5": RATE.table("table-5.csv"),
    "4": RATE.table("table-4.csv"),
    "3": RATE.table("table-3.csv"),
    "1": RATE.by_rule(RATE.table("table-3.csv"), "version-1"),
}
# The pages of frozen versions that tell of these programs.
PAGES = {"10": "sanitizer", "7": "sanitizer-7", "4": "sanitizer-4", "3": "sanitizer-3"}
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


def findings(row, severity):
    return row["errors" if severity == "error" else "advice"].split()


@pytest.mark.parametrize("version", TABLES)
def test_each_error_is_judged_with_a_reason(version):
    for row in RATE.watched(TABLES[version]):
        for name in findings(row, "error"):
            judgement = JUDGEMENTS[row["name"]][name]
            # A false alarm that led to a change is advice now, and judged as advice.
            severity = "info" if name == row["shown_before"] else "error"
            assert judgement["judgement"] in VERDICTS[severity]
            assert judgement["reason"]


@by_row
def test_each_piece_of_advice_is_judged_with_a_reason(row):
    for name in findings(row, "info"):
        judgement = JUDGEMENTS[row["name"]][name]
        assert judgement["judgement"] in VERDICTS["info"]
        assert judgement["reason"]


def test_each_judgement_is_about_a_finding_of_some_version():
    found = {
        (row["name"], name)
        for table in TABLES.values()
        for row in table
        for severity in VERDICTS
        for name in findings(row, severity)
    }
    judged = {(program, name) for program, names in JUDGEMENTS.items() for name in names}
    assert judged <= found


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
def test_the_page_has_the_rates_of_each_version(version):
    ran = RATE.watched(TABLES[version])
    cells = (
        version,
        len({row["repository"] for row in ran}),
        RATE.falsely_accused(ran),
        RATE.falsely_accused_at_first(ran),
        len(RATE.accused(ran, RATE.TRUE)),
    )
    row = "| " + " | ".join(map(str, cells)) + " |"
    assert row in text("benchmarks", "others", "README.md")


@pytest.mark.parametrize("version", PAGES)
def test_the_pages_of_versions_have_the_rate(version):
    ran = RATE.watched(TABLES[version])
    words = text("detectors", PAGES[version], "README.md")
    assert f"{len(ran)} programs of {len({row['repository'] for row in ran})} repos" in words
    assert str(RATE.falsely_accused(ran)) in words
    assert str(RATE.falsely_accused_at_first(ran)) in words


def watched_names(version):
    """The programs that a version has watched, in the order of its table."""
    return [row["name"] for row in RATE.watched(TABLES[version])]


def test_the_versions_have_watched_the_same_programs_but_for_those_that_the_page_names():
    all_names = watched_names("10")
    page = text("benchmarks", "others", "README.md").partition("ended with an error")[2]
    missing = {version: set(all_names) - set(watched_names(version)) for version in TABLES}
    switched_off = {"fabric-image-classifier", "torchdiffeq-learn-physics"}
    assert missing == {
        "10": set(),
        "8": {"nsf-plane"},
        "7": {"nsf-plane", "language-model-transformer"},
        "5": set(),
        "4": set(),
        "3": switched_off,
        "1": switched_off,
    }
    for name in set().union(*missing.values()):
        assert f"`{name}`" in page


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
    rate = RATE.falsely_accused(RATE.watched(TABLES["10"]))
    assert f"| without these 7 | {rate} |" in text("docs", "watch.md")
