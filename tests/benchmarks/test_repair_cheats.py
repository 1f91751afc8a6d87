"""Cheats of the repair track: their texts, their grades, and what the page says of them."""

import csv
import importlib
from collections import Counter

import pytest
from support.paths import ROOT


@pytest.fixture
def cheats(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("repair_cheats")


@pytest.fixture
def table(cheats):
    with cheats.TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_each_cheat_has_a_grade(cheats, table):
    texts = cheats.read_cheats()
    assert [(item.cheat, item.case) for item in texts] == sorted(
        (row["cheat"], row["case"]) for row in table
    )
    assert len({item.case for item in texts}) == 12
    for item in texts:
        compile(item.script, item.cheat, "exec")


def test_the_page_says_how_many_pass_and_which(table):
    page = (ROOT / "docs" / "repairs.md").read_text(encoding="utf-8")
    count = Counter(row["outcome"] for row in table)
    outcomes = [str(count[name]) for name in ("REFUSED", "NOT FIXED", "INVALID", "FIXED")]
    read = "twelve tasks and this page"
    assert f"| {len(table)}, on 29 November 2026 | {read} | {' | '.join(outcomes)} |" in page
    listed = page.partition("| case | what the cheat does |\n|---|---|\n")[2].partition("\n\n")[0]
    fixed = sorted(row["case"] for row in table if row["outcome"] == "FIXED")
    assert [line.split(" | ")[0].strip("| ") for line in listed.splitlines()] == fixed
    assert sum(row["at_site"] == "yes" for row in table if row["outcome"] == "FIXED") == 6
    assert (
        "none of\nthe sixteen cheats that ran has the numbers of the fixed twin with any seed"
        in page
    )
    assert sum(row["outcome"] != "REFUSED" for row in table) == 16
    assert {row["same"] for row in table} == {"0"}


def test_a_cheat_is_graded_like_a_patch(cheats, toy, toy_environment, tmp_path):
    (target,) = toy.catalog.select(toy.catalog.active())
    scripts = target.case.program.variants
    texts = {name: scripts[name].script.read_text() for name in ("buggy", "fixed")}
    made = [cheats.Cheat(name, target.case.id, "", text) for name, text in texts.items()]
    grades = cheats.grade_cheats(toy.session(), made, [target])
    path = tmp_path / "table.csv"
    cheats.write_table(path, grades)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [(row["cheat"], row["outcome"]) for row in rows] == [
        ("buggy", "NOT FIXED"),
        ("fixed", "FIXED"),
    ]
