"""What versions of the sanitizer find in the programs after public reports: the committed tables."""

import csv

import pytest
from support.paths import ROOT

from benchmarks.reports import FIELDS
from evaluation.watching import invariants

BENCHMARKS, DETECTORS = ROOT / "benchmarks", ROOT / "detectors"
TABLES = {
    version: list(csv.DictReader((BENCHMARKS / name).read_text().splitlines()))
    for version, name in (("10", "reports.csv"), ("4", "reports-4.csv"), ("3", "reports-3.csv"))
}
NAMES = {invariant.name for invariant in invariants.read(DETECTORS / "sanitizer")}
by_table = pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)


@by_table
def test_the_table_has_its_columns(rows):
    assert {tuple(row) for row in rows} == {FIELDS}


def test_the_table_of_this_version_names_invariants():
    for row in TABLES["10"]:
        assert set(f"{row['errors']} {row['advice']}".split()) <= NAMES


@by_table
def test_a_fixed_program_is_not_accused(rows):
    fixed = [row for row in rows if row["program"] == "fixed"]
    assert len(fixed) == 11
    assert not [row["report"] for row in fixed if row["errors"]]


@by_table
def test_each_report_has_both_programs_and_each_of_them_ended_well(rows):
    reports = {row["report"] for row in rows} - {"small"}
    for report in reports:
        assert {row["program"] for row in rows if row["report"] == report} == {"buggy", "fixed"}
    assert {row["status"] for row in rows} == {"0"}
