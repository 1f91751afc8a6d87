"""The command horizon: which cases it runs, what it keeps, and what it refuses."""

import csv
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.toy import toy_config

from runner.errors import ResultsError, UsageError
from runner.session import session
from runner.studies import horizon as study


@pytest.fixture
def bug(toy, monkeypatch):
    """The toy bug with two cases whose length is known, run by this interpreter."""
    config = toy_config()
    config["declared"]["harm"] |= {"length": "num_epoch"}
    cases = {name: config["cases"]["only"] for name in ("one", "two")}
    toy.configure(declared=config["declared"], cases=cases)
    record_targets = session.record_targets

    def record_here(catalog, targets, options, progress):
        changed = replace(options, python=Path(sys.executable), results=toy.results)
        return record_targets(catalog, targets, changed, progress)

    monkeypatch.setattr(session, "record_targets", record_here)
    monkeypatch.setattr(study, "refuse_unfit", lambda bug, records: None)
    return toy.bug


@pytest.fixture
def horizon(cli):
    return lambda *words: cli("horizon", "-q", *words)


def cases_of(out):
    return {line.split()[0] for line in out.splitlines()[1:] if not line.startswith("written")}


def test_a_bug_stands_for_its_cases(bug, horizon):
    status, out, _ = horizon("Toy-1")
    assert status == 0
    assert cases_of(out) == {"one", "two"}


def test_a_case_is_run_alone(bug, horizon):
    status, out, _ = horizon("Toy-1/two")
    assert status == 0
    assert cases_of(out) == {"two"}


def test_the_rows_of_other_cases_are_kept(bug, horizon):
    assert horizon("Toy-1", "--update-expected")[0] == 0
    path = bug.expected / study.FILE
    path.write_text(path.read_text().replace("buggy,0,accuracy,6", "buggy,0,accuracy,99"))
    assert horizon("Toy-1/two", "--update-expected")[0] == 0
    rows = csv.DictReader(path.read_text().splitlines())
    values = {(row["case"], row["variant"], row["seed"]): row["value"] for row in rows}
    assert len(values) == 8
    assert values["one", "buggy", "0"] == "99"
    assert values["two", "buggy", "0"] == "6"


@pytest.mark.parametrize(
    "name, problem",
    [
        ("Toy-1/three", "Toy-1 has no case 'three'; expected one of one, two"),
        ("Toy-1/one/buggy", "'Toy-1/one/buggy': expected BUG or BUG/CASE"),
        ("Toy-2/one", "there is no bug 'Toy-2' (did you mean Toy-1?)"),
    ],
)
def test_what_is_no_bug_and_no_case_is_refused(bug, horizon, name, problem):
    status, out, err = horizon(name)
    assert (status, out) == (2, "")
    assert problem in err


@pytest.mark.parametrize("refuse", ["refuse_installed", "refuse_uncommitted"])
def test_what_cannot_be_kept_is_refused_before_anything_runs(bug, horizon, monkeypatch, refuse):
    def refuse_it(*_):
        raise UsageError("cannot be kept")

    monkeypatch.setattr(f"runner.session.promote.{refuse}", refuse_it)
    monkeypatch.setattr(session, "record_targets", None)
    status, _, err = horizon("Toy-1", "--update-expected")
    assert (status, err) == (2, "trainbugs: cannot be kept\n")


def test_a_table_that_is_no_csv_is_one_line(bug, horizon):
    bug.expected.mkdir(exist_ok=True)
    (bug.expected / study.FILE).write_text(f"case,variant\n{'x' * 200_000},\n")
    with pytest.raises(ResultsError, match="horizon.csv: field larger than field limit"):
        study.read(bug)


def test_no_cell_is_a_formula(bug):
    metric = '=HYPERLINK("https://example.org")'
    row = study.HorizonRow(
        "one", "buggy", 0, metric, -1.5, "k", "toy", "3", "2", "@d", "2026-11-01", "r"
    )
    text = study.text([row])
    assert """,0,"'=HYPERLINK(""" in text
    assert ",-1.5," in text
    bug.expected.mkdir(exist_ok=True)
    (bug.expected / study.FILE).write_text(text)
    assert study.read(bug) == [row]


def test_a_case_without_a_length_is_refused(toy, horizon):
    status, _, err = horizon("Toy-1/only")
    assert status == 2
    assert "Toy-1/only declares no harm.length" in err
    assert "Toy-1 declares no harm.length" in horizon("Toy-1")[2]


def test_info_says_whether_the_harm_lasts(bug, toy, cli, horizon):
    untried = "nobody has tried twice the length yet: `trainbugs horizon Toy-1/one`"
    assert untried in cli("info", "Toy-1")[1]
    assert horizon("Toy-1/one", "--update-expected")[0] == 0
    text = cli("info", "Toy-1")[1]
    assert text.count("the harm is there in training of twice the length, too") == 1
    assert untried not in text
    config = toy_config()
    config["cases"] = {"one": config["cases"]["only"]}
    for length, late, line in (("num_epoch", True, "the harm only delays"), (None, False, "")):
        config["declared"]["harm"] |= {"length": length, "late": late}
        toy.configure(declared=config["declared"], cases=config["cases"])
        text = cli("info", "Toy-1")[1]
        assert line in text
        assert ("twice the length" in text) is bool(line)
