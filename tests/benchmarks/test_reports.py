"""What the sanitizer finds in the programs after public reports: the committed table."""

import csv

from support.paths import ROOT

from benchmarks.reports import FIELDS
from evaluation.watching import invariants

ROWS = list(csv.DictReader((ROOT / "benchmarks" / "reports.csv").read_text().splitlines()))
NAMES = {invariant.name for invariant in invariants.read(ROOT / "detectors" / "sanitizer")}


def test_the_table_has_its_columns_and_names_invariants():
    for row in ROWS:
        assert tuple(row) == FIELDS
        assert set(f"{row['errors']} {row['advice']}".split()) <= NAMES


def test_a_fixed_program_is_not_accused():
    fixed = [row for row in ROWS if row["program"] == "fixed"]
    assert len(fixed) == 11
    assert not [row["report"] for row in fixed if row["errors"]]


def test_each_report_has_both_programs_and_each_of_them_ended_well():
    reports = {row["report"] for row in ROWS} - {"small"}
    for report in reports:
        assert {row["program"] for row in ROWS if row["report"] == report} == {"buggy", "fixed"}
    assert {row["status"] for row in ROWS} == {"0"}
