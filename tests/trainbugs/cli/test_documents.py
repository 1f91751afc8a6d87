"""What `--json` prints: one document, the same exit status, stable words, and no NaN."""

import json
import math
import re
from pathlib import Path

import pytest
from support.detectors import OWN
from support.paths import ROOT
from support.records import as_pinned
from support.toy import OWN_PYTHON, SCRIPT, toy_config

from runner.bugs.catalog import Catalog
from runner.results.folder_index import IndexRow
from runner.session.promote import promote_runs
from trainbugs import api
from trainbugs.cli import documents

WORD = re.compile(r"[a-z][a-z0-9_]*")
# Keys below these are names that somebody chose.
CHOSEN = ("parameters", "verdicts", "alarm_rules")


@pytest.fixture
def document(cli):
    """Call the program with --json, and without; returns status,
    document and standard error of the first.
    """

    def call(*arguments):
        status, out, err = cli(*arguments, "--json")
        assert cli(*arguments)[0] == status
        return status, strict(out), err

    return call


def strict(text):
    """The document, whose words are in snake case, and whose numbers are numbers."""
    value = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    check_words(value)
    return value


def check_words(value):
    if isinstance(value, list):
        for element in value:
            check_words(element)
    elif isinstance(value, dict):
        for key, element in value.items():
            assert WORD.fullmatch(key), key
            if key not in CHOSEN:
                check_words(element)


def test_list_and_info(document, cli):
    status, bugs, err = document("list", "Toy-1")
    assert (status, err) == (0, "")
    assert bugs == [document("info", "Toy-1")[1]]
    assert bugs[0]["site"]["line"] == 9
    assert bugs[0]["cases"][0]["id"] == "Toy-1/only"
    assert bugs[0]["affected"] is None
    assert '"timeout_s": 20,' in cli("list", "--json")[1]
    assert bugs[0]["labels"]["cause"] == "wrong logic"
    assert bugs[0]["provenance"]["derived_from"][0]["licence"] == "MIT"
    assert bugs[0]["cases"][0]["provenance"] == bugs[0]["provenance"]
    status, out, err = cli("list", "--label", "compiler", "--json")
    assert (status, out) == (2, "")
    assert "no case fits" in err


def test_numbers_of_bugs(document, cli, tmp_path):
    status, rows, err = document("list", "--stats")
    assert (status, err) == (0, "")
    assert {row["list"] for row in rows} == {
        "cause",
        "effect",
        "stage",
        "realism",
        "harm",
        "code_at_fault",
        "state_upstream",
        "source_read",
        "split",
    }
    assert [tuple(row.values()) for row in rows if row["bugs"]] == [
        ("cause", "wrong logic", "user code", 1),
        ("effect", "poor model", "user code", 1),
        ("stage", "data", "user code", 1),
        ("realism", "original", "user code", 1),
        ("harm", "reported", "user code", 1),
        ("code_at_fault", "re-created", "user code", 1),
        ("state_upstream", "open", "user code", 1),
        ("source_read", "whole", "user code", 1),
        ("split", "development", "user code", 1),
        ("code_at_fault", "re-created", "reported", 1),
    ]
    status, out, err = cli("list", "--stats", "--json", "--out", tmp_path / "a.png")
    assert strict(out) == rows
    assert err == f"figure: {tmp_path / 'a.png'}\n"
    assert (tmp_path / "a.png").is_file()


def test_run(document, toy, tmp_path):
    status, cases, _ = document("run", "Toy-1", *OWN_PYTHON)
    (case,) = cases
    assert status == 0
    assert (case["id"], case["bug"], case["case"]) == (
        "Toy-1/only",
        "Toy-1",
        "only",
    )
    assert (case["verdict"], case["runs"], case["drift"], case["repeats"]) == (
        "REPRODUCED",
        4,
        None,
        None,
    )
    assert case["benign"] is case["injected"] is False
    assert case["seconds"] > 0
    assert case["reason"] == "4 checks hold"
    first = {
        "statement": "buggy stays low",
        "seed": 0,
        "holds": True,
        "explanation": "last 3, expected <= 5",
    }
    assert case["checks"][0] == first
    assert len(case["checks"]) == 4
    assert [json.loads(Path(path).read_text())["variant"] for path in case["paths"]] == [
        "buggy",
        "fixed",
    ] * 2
    toy.write("buggy.py", SCRIPT.replace("VALUE", "9"))
    status, cases, _ = document("run", "Toy-1", *OWN_PYTHON)
    assert status == 1
    assert cases[0]["verdict"] == "NOT REPRODUCED"
    toy.write("buggy.py", "raise RuntimeError('late')")
    status, cases, _ = document("run", "Toy-1", *OWN_PYTHON)
    assert status == 2
    assert cases[0]["verdict"] == "INVALID"
    status, cases, _ = document("run", "Toy-1/only/fixed", *OWN_PYTHON)
    assert status == 0
    assert cases[0]["verdict"] is None
    assert cases[0]["runs"] == 2


def test_names_of_files_are_not_in_the_document(cli, toy, toy_environment):
    status, out, err = cli("run", "Toy-1", "--json", "-q", "--figures", "--update-expected")
    assert status == 0
    assert strict(out)[0]["verdict"] == "REPRODUCED"
    assert "records, logs and verdicts: " in err
    assert "expected records: 4 written" in err
    assert "figure: " in err


def test_repeats_and_drift(document, toy):
    promote_runs([as_pinned(toy.run())])
    toy.write(
        "fixed.py",
        SCRIPT.replace("VALUE", "2").replace('"epoch": epoch', '"epoch": epoch, "more": 1'),
    )
    case = document("run", "Toy-1", "--repeat", "2", *OWN_PYTHON)[1][0]
    assert case["repeats"] == {"label": "stable", "verdicts": {"REPRODUCED": 2}, "spread": 0}
    assert case["drift"] == "Infinity"
    assert case["runs"] == 8


def test_results(document, toy):
    toy.run()
    status, rows, _ = document("results", "--results", toy.results)
    assert status == 0
    assert len(rows) == 4
    assert set(rows[0]) == set(IndexRow._fields)
    assert json.loads(Path(rows[0]["path"]).read_text())["key"]
    assert rows[0]["records"] == 3
    assert rows[0]["torch"] is None
    for path in toy.results.rglob("*-seed*.json"):
        path.write_text("{")
    status, rows, err = document("results", "--results", toy.results)
    assert (status, rows) == (2, [])
    assert len(err.splitlines()) == 4


def test_environments(document, cli, toy_environment):
    status, listed, err = document("env", "list")
    assert (status, err) == (0, "")
    assert listed[0]["built"] is None
    assert listed[0]["disk_gb"] == 0.01
    status, checked, _ = document("env", "check")
    assert status == 2
    assert checked == [listed[0] | {"problems": ["not built; `trainbugs env build toy`"]}]
    cli("env", "build", "toy")
    status, checked, _ = document("env", "check", "toy")
    assert status == 0
    assert checked[0]["problems"] == []
    assert checked[0]["built"] == document("env", "list")[1][0]["built"]


def test_detectors(document, toy, monkeypatch):
    monkeypatch.setattr(api, "load", lambda: Catalog(ROOT))
    status, listed, _ = document("detectors")
    assert status == 0
    assert {detector["name"] for detector in listed} >= set(OWN)
    rule_detector = next(detector for detector in listed if detector["name"] == "gradient-cycle")
    assert rule_detector["needs"] == ["in_process"]
    assert rule_detector["directory"] == str(ROOT / "detectors" / "gradient-cycle")
    assert rule_detector["timeout_s"] == 600
    assert rule_detector["alarm_rules"]["default"]["minimum_severity"] == "error"


def test_validate(document, toy, toy_environment):
    promote_runs([as_pinned(toy.run())])
    (toy.directory / "README.md").unlink()
    status, reports, _ = document("validate", "Toy-1", toy.directory)
    assert status == 1
    assert [report["name"] for report in reports] == ["Toy-1", str(toy.directory)]
    assert "there is no README.md" in reports[0]["problems"]
    assert reports[0]["problems"] == reports[1]["problems"]


def test_a_broken_bug_is_named_beside_the_document(document, toy):
    other = toy.directory.with_name("Toy-2")
    other.mkdir()
    (other / "config.json").write_text(json.dumps(toy_config(id="Toy-2") | {"cases": 1}))
    status, bugs, err = document("list")
    assert status == 2
    assert [bug["id"] for bug in bugs] == ["Toy-1"]
    assert "Toy-2/config.json" in err


def test_numbers(capsys):
    documents.print_json(
        {"a": math.nan, "b": [math.inf, -math.inf], "c": (300.0, 0.5, -2.0, 1e300), "d": True}
    )
    document = strict(capsys.readouterr().out)
    assert document == {
        "a": None,
        "b": ["Infinity", "-Infinity"],
        "c": [300, 0.5, -2, 1e300],
        "d": True,
    }
    documents.print_rows([{"a": math.nan, "b": 300.0}, {"a": "ü", "b": None}])
    out = capsys.readouterr().out
    assert strict(out) == [{"a": None, "b": 300}, {"a": "ü", "b": None}]
    assert len(out.splitlines()) == 4
    assert out.isascii()
    assert "300.0" not in out
