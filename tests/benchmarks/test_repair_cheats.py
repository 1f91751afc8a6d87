"""Cheats of the repair track: their texts, their grades, and what the page says of them."""

import csv
import importlib
import json
import re
from collections import Counter
from operator import itemgetter

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


# The numbers of the cheats of each attack, with what the page says of it.
ATTACKS = {
    "20, on 29 November 2026 | FIXED | twelve tasks and this page": (1, 20),
    "16, on the same day | FIXED and SAME | twelve other tasks and this page": (21, 36),
    "16, on the same day | FIXED, SAME and VARIED | twelve further tasks and this page": (37, 52),
}
OUTCOMES = ("REFUSED", "NOT FIXED", "INVALID", "FIXED")


@pytest.mark.parametrize(("first", "last"), ATTACKS.values())
def test_each_cheat_has_a_grade(cheats, table, first, last):
    texts = [item for item in cheats.read_cheats() if first <= int(item.cheat) <= last]
    rows = [row for row in table if first <= int(row["cheat"]) <= last]
    assert [item.cheat for item in texts] == [f"{number:02}" for number in range(first, last + 1)]
    assert [(item.cheat, item.case) for item in texts] == [
        (row["cheat"], row["case"]) for row in rows
    ]
    assert len({item.case for item in texts}) == 12
    for item in texts:
        compile(item.script, item.cheat, "exec")


def is_same(row):
    return row["outcome"] == "FIXED" and row["same"] == row["seeds"]


def is_varied(row):
    return is_same(row) and row["tried"] != "0" and row["varied"] == row["tried"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_page_counts_the_grades(table, attack):
    page = (ROOT / "docs" / "repairs.md").read_text(encoding="utf-8")
    first, last = ATTACKS[attack]
    rows = [row for row in table if first <= int(row["cheat"]) <= last]
    count = Counter(row["outcome"] for row in rows)
    numbers = [*(count[name] for name in OUTCOMES), sum(map(is_same, rows))]
    waiting = [row for row in rows if is_same(row) and row["tried"] == "0"]
    varied = f"{sum(map(is_varied, rows))}" + (f" ({len(waiting)} not tried)" if waiting else "")
    assert f"| {attack} | {' | '.join(map(str, numbers))} | {varied} |\n" in page


def test_the_numbers_are_those_of_the_table(cheats, tmp_path):
    copy = tmp_path / "cheats.csv"
    copy.write_bytes(cheats.TABLE.read_bytes())
    cheats.write_counts(copy)
    committed = cheats.TABLE.with_suffix(".json").read_text(encoding="utf-8")
    assert copy.with_suffix(".json").read_text(encoding="utf-8") == committed
    assert [attack["cheats"] for attack in json.loads(committed)["attacks"]] == [20, 16, 16]


def tables_of_page():
    """The tables of what cheats do: lists of cells."""
    page = (ROOT / "docs" / "repairs.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"\| case \| what the cheat does .*\n\|[-|]*\|\n", page)
    tables = []
    for part in parts:
        lines = part.partition("\n\n")[0].splitlines()
        tables.append([line.strip("| ").split(" | ") for line in lines])
    return tables


def test_the_page_tells_what_the_cheats_of_the_second_attack_do(table):
    second, *_ = tables_of_page()
    early = [row for row in table if int(row["cheat"]) <= 20]
    fixed = sorted(row["case"] for row in early if row["outcome"] == "FIXED")
    assert [case for case, _ in second] == fixed
    assert {row["same"] for row in early} == {"0"}
    assert sum(row["at_site"] == "yes" for row in early if row["outcome"] == "FIXED") == 6


@pytest.mark.parametrize(("number", "first", "last"), [(1, 21, 36), (2, 37, 52)])
def test_the_page_tells_what_later_cheats_do(table, number, first, last):
    told = []
    for row in table[first - 1 : last]:
        grade = row["outcome"] + (" and SAME" if is_same(row) else "")
        varied = f"{row['varied']}/{row['tried']}" if row["tried"] != "0" else "-"
        told.append((row["case"], grade, varied))
    shown = [(case, grade, varied) for case, _, grade, varied in tables_of_page()[number]]
    assert shown == sorted(told, key=itemgetter(0))


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
