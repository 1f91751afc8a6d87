"""The table of the sanitizer's page with its versions side by side, made anew from the records."""

import csv
import json

import pytest
from support.modules import load
from support.paths import ROOT

import trainbugs
from evaluation.scoring.outcomes import outcomes, with_twins
from evaluation.store.committed import CommittedChecks

RATE = load("benchmarks/others/rate.py")
PAGE = (ROOT / "detectors" / "sanitizer" / "README.md").read_text()
REPORTS = {"1": "reports-3.csv", "3": "reports-3.csv", "4": "reports-4.csv", "10": "reports.csv"}
OTHERS = {"1": "table-3.csv", "3": "table-3.csv", "4": "table-4.csv", "10": "table.csv"}
ROWS = {"1": ("sanitizer-3", "version-1"), "3": ("sanitizer-3", "default")}
ROWS["4"] = ("sanitizer-4", "default")


def shown():
    """The cells of the page's table: by the beginning of a line, then by version."""
    table = PAGE.partition("| side by side |")[2].partition("\n\n")[0].splitlines()
    versions = [
        cell.strip().removeprefix("version ") for cell in table[0].split("|") if cell.strip()
    ]
    cells = {}
    for line in table[2:]:
        name, *values = (cell.strip() for cell in line.strip("|").split("|"))
        cells[name] = dict(zip(versions, values, strict=True))
    return cells


def line(words):
    (found,) = [cells for name, cells in shown().items() if words in name]
    return found


def version_1_codes():
    detector = json.loads((ROOT / "detectors" / "sanitizer-3" / "detector.json").read_text())
    return set(detector["alarm_rules"]["version-1"]["codes"])


def errors_about_reports(version):
    """The errors of a version: by report, then by program."""
    errors = {}
    for row in csv.DictReader((ROOT / "benchmarks" / REPORTS[version]).read_text().splitlines()):
        said = set(row["errors"].split())
        counted = said & version_1_codes() if version == "1" else said
        errors.setdefault(row["report"], {})[row["program"]] = counted
    del errors["small"]
    return errors


@pytest.mark.parametrize("version", REPORTS)
def test_what_is_said_of_reports(version):
    errors = errors_about_reports(version)
    found = sum(bool(said["buggy"] - said["fixed"]) for said in errors.values())
    accused = sum(bool(said["fixed"]) for said in errors.values())
    assert line("public reports")[version] == f"{found} of {len(errors)}"
    assert line("mended programs")[version] == f"{accused} of {len(errors)}"


@pytest.mark.parametrize("version", OTHERS)
def test_what_is_said_of_programs_of_others(version):
    table = RATE.table(OTHERS[version])
    rows = RATE.by_rule(table, "version-1") if version == "1" else table
    watched = RATE.watched(rows)
    rate = RATE.falsely_accused(watched)
    taught = RATE.falsely_accused_at_first(watched).count - rate.count
    more = f"; {taught} more led to a change" if taught else ""
    assert line("programs of others")[version] == f"{rate.count} of {rate.programs}{more}"


@pytest.mark.parametrize("version", ROWS)
def test_what_is_said_of_drawn_cases(version):
    scores = trainbugs.scores()
    detector, rule = ROWS[version]
    (row,) = scores[(scores.detector == detector) & (scores.rule == rule)].to_dict("records")
    known = f"{row['paired_known']:.0f} of {row['paired_known_n']:.0f}"
    later = f"{row['paired_new']:.0f} of {row['paired_new_n']:.0f}"
    accused = f"{row['false_fixed']:.0f} of {row['false_fixed_n']:.0f}"
    assert line("that it was developed on, found")[version] == known
    assert line("that came later, found")[version] == later
    assert line("of the drawn cases, accused")[version] == accused


def test_what_is_said_of_drawn_cases_and_version_10():
    """Its answers are in no score."""
    records = CommittedChecks(ROOT / "detectors" / "unfinished").read(["sanitizer"])
    table = outcomes(records.checks, records.rules)
    drawn = set((ROOT / "detectors" / "drawn.txt").read_text().split())
    met = table[(table.bug + "/" + table.case).isin(drawn)]
    buggy, fixed = with_twins(met), met[met.kind == "fixed"]
    assert len(buggy) == len(fixed) == len(drawn)
    found = line("that it was developed on, found")["10"]
    assert found == f"{buggy.paired.sum()} of {len(buggy)}"
    accused = line("of the drawn cases, accused")["10"]
    assert accused == f"{fixed.alarmed.sum()} of {len(fixed)}"
    (disturbed,) = table[table.status != "ok"].itertuples()
    program = f"the {disturbed.kind} one of {disturbed.bug}/{disturbed.case}, which is compiled"
    assert disturbed.status == "disturbed"
    assert f"It disturbs one program: {program}" in " ".join(PAGE.split())
