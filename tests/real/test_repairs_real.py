"""The grader on real cases: the unchanged program is NOT FIXED, the fixed twin is FIXED.

These are two cheap cases; `benchmarks/repair_grades.py` grades all.
"""

import argparse
import importlib

import pytest
from support.paths import ROOT

from evaluation.repair.tasks import repairable
from runner.bugs.catalog import Catalog
from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.session.session import Session

CASES = ("Bolts-654/iris", "PyTorch-148259/adding-problem")


@pytest.mark.real
def test_the_grader_is_right_about_both_twins(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    grades = importlib.import_module("repair_grades")
    catalog = Catalog(ROOT)
    targets = [target for target in repairable(catalog)[0] if target.case.id in CASES]
    session = Session(catalog, Options(results=tmp_path / "results", jobs=2), on_stderr())
    options = argparse.Namespace(templates=False, vary=False)
    rows = grades.grade_cases(session, targets, tmp_path / "table.csv", options)
    assert len(rows) == 4
    assert grades.surprises(rows) == []
