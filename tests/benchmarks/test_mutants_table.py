"""The committed fates of mutants, and what the page says of them."""

import csv
from collections import Counter

from support.paths import ROOT

ROWS = list(csv.DictReader((ROOT / "benchmarks" / "mutants.csv").read_text().splitlines()))


def test_a_killed_mutant_names_the_test_that_killed_it():
    assert all(row["test"] for row in ROWS if row["fate"] == "killed")


def test_the_page_has_the_numbers():
    fates = Counter(row["fate"] for row in ROWS)
    page = " ".join((ROOT / "benchmarks" / "README.md").read_text().split())
    assert f"Of {len(ROWS)} mutants that seed 0 drew" in page
    assert f"tests kill {fates['killed']}, {fates['survived']} survive, and two never" in page
    assert fates["timeout"] == 2
