"""Scripts that forget a move to the GPU: how they are made, and what the page says of them."""

import ast
import csv
import importlib
import re

import pytest
from support.paths import ROOT

from runner.bugs.catalog import Catalog

TABLE = ROOT / "benchmarks" / "device_mutants.csv"


@pytest.fixture
def mutants(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("device_mutants")


def test_each_place_leaves_one_move_out(mutants):
    (target,) = Catalog(ROOT).select(["SO-60335387/digits"])
    source = target.case.program.variants["fixed"].script.read_text()
    places = list(mutants.places(target))
    assert {place.left_out for place in places} == {".to(device)", ".to(labels.device)"}
    for place in places:
        ast.parse(place.text)
        assert place.text.count(place.left_out) == source.count(place.left_out) - 1
        assert place.left_out in source.splitlines()[place.line - 1]


def test_the_seed_decides_which_are_tried(mutants):
    catalog = Catalog(ROOT)
    first = mutants.chosen(catalog, "torch-2.13.0", 10, 0)
    assert first == mutants.chosen(catalog, "torch-2.13.0", 10, 0)
    assert first != mutants.chosen(catalog, "torch-2.13.0", 10, 1)


def test_the_page_says_how_many_are_seen():
    rows = list(csv.DictReader(TABLE.read_text().splitlines()))
    errors = sum(row["status"] == "device error" for row in rows)
    words = " ".join((ROOT / "docs" / "gpu.md").read_text().split())
    said = re.search(r"\[(\d+) fixed scripts\].*?\| (\d+) device errors; the (\d+) others", words)
    assert said
    assert tuple(map(int, said.groups())) == (len(rows), errors, len(rows) - errors)


def test_the_page_says_what_was_checked():
    path = ROOT / "benchmarks" / "device_checks.csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    status = [row["status"] for row in rows]
    words = " ".join((ROOT / "docs" / "gpu.md").read_text().split())
    counts = f"{status.count('passed')} passed, {status.count('not checkable')} are not checkable"
    assert f"[programs of {len({row['case'] for row in rows})} cases]" in words
    assert f"{counts}, none has a device error" in words
    assert len(status) == status.count("passed") + status.count("not checkable")
