"""Grades of patches whose worth is known: the table, and how it goes on after a stop."""

import argparse
import importlib
import json

import pytest
from support.paths import ROOT

from evaluation.repair.patches import Patch
from evaluation.repair.scoring import RepairScore
from evaluation.repair.tasks import repairable
from runner.bugs.catalog import Catalog
from runner.files.structs import as_struct


@pytest.fixture
def grades(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("repair_grades")


@pytest.fixture
def grade_toy(grades, toy, toy_environment, tmp_path):
    """Grade the toy bug into a table; returns its rows by the names of patches."""

    def call(vary=False):
        (target,), _ = repairable(toy.catalog)
        options = argparse.Namespace(templates=False, vary=vary)
        rows = grades.grade_cases(toy.session(), [target], tmp_path / "table.csv", options)
        return {row.patch: row for row in rows}

    return call


def test_the_fixed_twin_is_fixed_and_the_unchanged_program_is_not(grades, grade_toy, tmp_path):
    rows = grade_toy()
    assert {name: row.outcome for name, row in rows.items()} == grades.EXPECTED
    assert grades.surprises([*rows.values()]) == []
    assert grades.read_table(tmp_path / "table.csv") == sorted(rows.values())


def test_what_is_in_the_table_is_graded_again_only_if_a_script_has_changed(
    grades, grade_toy, toy, monkeypatch
):
    first = grade_toy()
    asked = []
    real = grades.grade

    def noting(session, patches, targets):
        asked.extend(patches)
        return real(session, patches, targets)

    monkeypatch.setattr(grades, "grade", noting)
    assert grade_toy() == first
    assert asked == []
    fixed = toy.directory / "fixed.py"
    fixed.write_text(fixed.read_text() + "\n")
    assert grade_toy() != first
    assert [patch.model for patch in asked] == [*grades.EXPECTED]


def test_a_template_with_the_numbers_of_the_twin_runs_with_other_parameters_where_it_is_asked(
    grades, grade_toy, toy, monkeypatch
):
    script = (toy.directory / "fixed.py").read_text()
    template = Patch(grades.TASK, model=grades.TEMPLATES, script=script)
    real = grades.patches_for
    monkeypatch.setattr(grades, "patches_for", lambda *given: [*real(*given), template])
    row = grade_toy()[grades.TEMPLATES]
    assert (row.same, row.tried, row.as_grade().varied) == (row.seeds, "0", None)
    rows = grade_toy(vary=True)
    row = rows[grades.TEMPLATES]
    assert (row.tried, row.varied) == ("4", "4")
    assert row.as_grade().varied.is_same
    assert rows[grades.FIXED_TWIN].tried == "0"
    monkeypatch.setattr(grades, "grade", lambda _, missing, __: [*missing])
    assert grade_toy(vary=True) == rows


def test_a_grade_that_is_wrong_is_told(grades, grade_toy):
    row = grade_toy()["noop"]._replace(outcome="FIXED", reason="why")
    (line,) = grades.surprises([row])
    assert "noop is FIXED, expected NOT FIXED: why" in line


def test_the_page_has_the_committed_scores(grades, tmp_path):
    document = json.loads(grades.TABLE.with_suffix(grades.SCORES).read_text(encoding="utf-8"))
    copy = tmp_path / "table.csv"
    copy.write_bytes(grades.TABLE.read_bytes())
    grades.write_scores(copy, Catalog(ROOT))
    assert json.loads(copy.with_suffix(grades.SCORES).read_text()) == document
    page = (ROOT / "docs" / "repairs.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(grades.ROW)} |\n" in page
    for values in document["scores"]:
        score = as_struct(values, RepairScore)
        assert f"| {' | '.join(cell(score) for cell in grades.ROW.values())} |\n" in page
    graded = len({row.case for row in grades.read_table(grades.TABLE)})
    assert f"So far {graded} of {document['cases']} cases are graded." in " ".join(page.split())


def test_the_committed_table_has_no_wrong_grade_and_knows_its_scripts(grades):
    rows = grades.read_table(grades.TABLE)
    assert rows == sorted(rows)
    assert grades.surprises(rows) == []
    targets = {target.case.id: target for target in repairable(Catalog(ROOT))[0]}
    for row in rows:
        assert row.scripts == grades.scripts_digest(targets[row.case].case), row.case
