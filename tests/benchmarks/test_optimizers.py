"""What the sanitizer says of the optimizers of a package: the committed table, and its program."""

import ast
import csv
import json

from support.paths import ROOT

from benchmarks import optimizers
from evaluation.watching import invariants

ROWS = list(csv.DictReader((ROOT / "benchmarks" / "optimizers.csv").read_text().splitlines()))
NAMES = {invariant.name for invariant in invariants.read(ROOT / "detectors" / "sanitizer")}


def test_the_table_has_its_columns_and_names_invariants_and_optimizers():
    for row in ROWS:
        assert tuple(row) == optimizers.FIELDS
        assert row["invariant"] in NAMES
        assert row["optimizer"] in optimizers.NAMES


def test_the_page_names_each_accused_optimizer():
    page = (ROOT / "benchmarks" / "README.md").read_text()
    for row in ROWS:
        assert f"| {row['optimizer']} |" in page


def test_the_program_has_a_part_for_each_optimizer(tmp_path):
    optimizers.write(tmp_path / "program.py")
    tree = ast.parse((tmp_path / "program.py").read_text())
    parts = [node for node in tree.body if isinstance(node, ast.Try)]
    assert len(parts) == len(optimizers.NAMES)


def test_a_report_becomes_rows(tmp_path):
    finding = {
        "severity": "error",
        "api": "package.module.Own.step",
        "invariant": "idle-option",
        "message": "lr changes nothing",
    }
    advice = finding | {"severity": "info"}
    (tmp_path / "report.json").write_text(
        json.dumps({"findings": [finding, advice]}), encoding="utf-8"
    )
    table = tmp_path / "table.csv"
    for release in ("1.0", "2.0", "1.0"):
        assert optimizers.main(["add", str(tmp_path / "report.json"), release, str(table)]) == 0
    assert [row.split(",")[:2] for row in table.read_text().splitlines()[1:]] == [
        ["2.0", "Own"],
        ["1.0", "Own"],
    ]
