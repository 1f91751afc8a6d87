"""The table of toys in releases of torch: what its rows say, and that it has no riddle."""

import json
from pathlib import Path

import pytest
from support import toys
from support.modules import load
from support.paths import ROOT

TABLE = ROOT / "benchmarks" / "toys.csv"
benchmark = load("benchmarks/toys.py")
FILE = toys.Toys(
    name="clip",
    right={"quiet": "", "known": ""},
    wrong={"late": ""},
    advised={"odd": ""},
    silent=True,
    others={"known": ["ranks"]},
    iterations={"late": 3},
)
EXPECTED = {
    "right quiet": [],
    "right known": [("ranks", "error", 1)],
    "wrong late": [("clip", "error", 3)],
    "advised odd": [("clip", "info", 1)],
}


def answer(folder, name, alarms, output=""):
    """What the launcher leaves of a program."""
    (folder / name).mkdir(parents=True)
    report = {
        "error": None,
        "alarms": [
            {"code": code, "severity": severity, "iteration": iteration}
            for code, severity, iteration in alarms
        ],
    }
    (folder / name / "output").write_text(output)
    (folder / name / "out.json").write_text(json.dumps(report))


def surprises(folder, changed):
    for name, alarms in (EXPECTED | changed).items():
        answer(folder, name, alarms)
    return list(benchmark.surprises(FILE, folder))


def test_toys_with_the_verdicts_that_they_should_get(tmp_path):
    assert surprises(tmp_path, {}) == []


@pytest.mark.parametrize(
    "name, alarms, said",
    [
        ("right quiet", [("clip", "error", 1)], "right quiet: ['clip'], not []"),
        ("right quiet", [("clip", "info", 1)], "right quiet: advice ['clip'], not silent"),
        ("right known", [], "right known: [], not ['ranks']"),
        ("wrong late", [], "wrong late: [], not ['clip']"),
        ("wrong late", [("clip", "error", 2)], "wrong late: {'clip': 2}, not in iteration 3"),
        ("advised odd", [], "advised odd: advice []"),
    ],
)
def test_each_other_verdict_is_said(tmp_path, name, alarms, said):
    assert surprises(tmp_path, {name: alarms}) == [said]


def test_a_toy_that_ends_with_an_error_is_said_with_its_last_line(tmp_path):
    for name, alarms in EXPECTED.items():
        failed = "Traceback (most recent call last):\nRuntimeError: not yet supported\n"
        answer(tmp_path, name, alarms, failed if name == "right quiet" else "")
    expected = "right quiet: does not end well: RuntimeError: not yet supported"
    assert list(benchmark.surprises(FILE, tmp_path)) == [expected]


def test_an_environment_of_your_own_is_named_with_its_interpreter():
    argument = "torch-9.9.9=/opt/own/bin/python"
    assert benchmark.interpreter(argument) == ("torch-9.9.9", Path("/opt/own/bin/python"))


def test_what_the_table_says_is_as_it_should_be_or_explained():
    rows = benchmark.read_table(TABLE)
    assert rows
    assert {row.invariant: reasons for row in rows if (reasons := benchmark.unexplained(row))} == {}


def test_an_unexplained_verdict_is_seen():
    row = benchmark.read_table(TABLE)[0]._replace(
        environment="torch-2.8.0",
        otherwise="wrong a milestone at 0: [], not ['schedule']; right a: RuntimeError: Python "
        "3.11+ not yet supported for torch.compile",
    )
    assert benchmark.unexplained(row) == ["wrong a milestone at 0: [], not ['schedule']"]
    assert benchmark.unexplained(row._replace(environment="torch-2.13.0")) == []


@pytest.mark.parametrize("release", ["2.0.1", "2.8.0", "2.13.0", "2.15.0"])
def test_the_page_says_how_many_toys_are_as_they_should_be_in_a_release(release):
    rows = [row for row in benchmark.read_table(TABLE) if row.environment == f"torch-{release}"]
    toys_run = sum(int(row.toys) for row in rows)
    held = sum(int(row.held) for row in rows)
    unsupported = sum(row.otherwise.count(benchmark.UNSUPPORTED) for row in rows)
    otherwise = toys_run - held - unsupported
    page = (ROOT / "detectors" / "sanitizer" / "README.md").read_text()
    row = f"| {release} | all {len(rows)} | {toys_run} | {held} | {unsupported} | {otherwise} |"
    assert row in page


def test_a_release_has_as_many_reasons_as_the_page_says():
    page = (ROOT / "detectors" / "sanitizer" / "README.md").read_text()
    table = page.partition("| what happens otherwise |")[2].partition("\n\n")[0]
    counts = [line.split("|")[-5:-1] for line in table.splitlines()[2:]]
    sums = [sum(map(int, column)) for column in zip(*counts, strict=True)]
    releases = page.partition("| torch | invariants | toys |")[2].partition("\n\n")[0]
    assert sums == [int(line.split("|")[-2]) for line in releases.splitlines()[2:]]
