"""Faults put back into a release, and why.py: a toy release is a number in builtins, which fault.py
changes.
"""

import csv
import sys
from pathlib import Path

import pytest
from support.toy import SCRIPT, toy_config

from plots.style import seeds_text
from runner.authoring.checkout import checkout
from runner.errors import UsageError
from runner.results.store import Store
from runner.session.promote import promote_runs

FAULT = """\
import builtins, runpy, sys
builtins.factor = 1
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
REFUSAL = "import sys; print('release 9 is not known', file=sys.stderr); sys.exit(3)\n"
WHY = "import builtins; print('factor is', getattr(builtins, 'factor', 2))\n"
PYTHON = Path(sys.executable)


@pytest.fixture
def sound(toy):
    """The toy bug in a release without the fault, which fault.py puts back."""
    toy.write(
        "buggy.py", SCRIPT.replace("VALUE", '__import__("builtins").__dict__.get("factor", 2)')
    )
    toy.write("fault.py", FAULT)
    return toy


def test_the_fault_is_there_only_when_it_is_injected(sound):
    plain, injected = sound.run(), sound.run(inject=True)
    assert (plain.verdict.outcome, injected.verdict.outcome) == ("NOT REPRODUCED", "REPRODUCED")
    assert {record.injected for record in plain.records} == {False}
    assert {record.injected for record in injected.records} == {True}
    assert not {record.key for record in plain.records} & {
        record.key for record in injected.records
    }
    assert seeds_text(plain.records) == " (mean and range of 2 seeds)"
    assert seeds_text(injected.records) == ", fault injected (mean and range of 2 seeds)"
    again = sound.run(inject=True)
    assert [record.started for record in again.records] == [
        record.started for record in injected.records
    ]


def test_the_verdicts_are_kept_apart(sound, cli):
    arguments = ("run", "Toy-1", "--python", sys.executable, "--results", sound.results)
    status, out, _ = cli(*arguments)
    assert status == 1
    assert "NOT REPRODUCED " in out
    assert "(injected)" not in out
    before = Store(sound.results).verdict_path("Toy-1", "only").read_bytes()
    status, out, err = cli(*arguments, "--inject")
    assert status == 0
    assert "Toy-1/only  REPRODUCED (injected)" in out
    assert "seed 0, injected: ok" in err
    assert Store(sound.results).verdict_path("Toy-1", "only").read_bytes() == before
    listed = cli("results", "--results", sound.results)[1]
    assert listed.count("Toy-1/only/buggy (injected)") == 2
    assert listed.count("Toy-1/only/buggy  ") == 2
    rows = csv.DictReader(cli("results", "--results", sound.results, "--csv", "-")[1].splitlines())
    assert [row["injected"] for row in rows].count("True") == 12
    assert (
        b'"injected": true'
        in (sound.results / "Toy-1" / "only" / "verdict-injected.json").read_bytes()
    )


def test_a_release_that_is_not_known_is_refused(sound):
    sound.write("fault.py", REFUSAL)
    outcome = sound.run(inject=True)
    assert (outcome.verdict.outcome, outcome.records[0].status) == ("INVALID", "refused")
    assert "buggy seed 0: refused: fault.py: release 9 is not known" in outcome.verdict.reason


def test_exit_status_3_without_a_fault_put_back_is_a_crash(toy):
    toy.write("buggy.py", REFUSAL)
    assert toy.run(seeds=(0,)).records[0].status == "crashed"


def test_a_bug_without_a_fault_to_put_back_says_so(toy):
    with pytest.raises(UsageError, match="Toy-1 ships no fault.py"):
        toy.run(inject=True)


def test_a_case_that_is_not_portable_runs_elsewhere_only_if_named(sound, cli):
    cases = toy_config()["cases"]
    sound.configure(cases=cases | {"other": cases["only"] | {"portable": False}})
    arguments = ("--python", sys.executable, "--inject", "--seeds", "0")
    _, out, err = cli("run", "Toy-1", *arguments)
    assert "Toy-1/other" not in out
    assert "Toy-1/other: left out, its numbers are of toy only; name it to run it" in err
    status, out, err = cli("run", "Toy-1/other", *arguments)
    assert (status, "left out" in err) == (0, False)
    assert "Toy-1/other  REPRODUCED (injected)" in out
    assert "Toy-1/other" in cli("run", "Toy-1", "--python", sys.executable)[1]


def test_injected_records_are_never_expected_ones(sound, toy_environment):
    outcome = sound.run(inject=True, python=None)
    assert outcome.verdict.outcome == "REPRODUCED"
    assert outcome.records[0].runtime.pinned
    with pytest.raises(UsageError, match="is not REPRODUCED as reported"):
        promote_runs([outcome])


def test_the_fault_is_no_script_of_the_bug(sound, tmp_path):
    before = [record.key for record in sound.run().records]
    injected = [record.key for record in sound.run(inject=True).records]
    sound.write("fault.py", FAULT + "\n")
    sound.write("why.py", WHY)
    assert [record.key for record in sound.run().records] == before
    assert not set(injected) & {record.key for record in sound.run(inject=True).records}
    targets = sound.catalog.select(["Toy-1"])
    checkout(targets, tmp_path / "open", blind=False)
    checkout(targets, tmp_path / "blind", blind=True)
    assert (tmp_path / "open" / "fault.py").exists()
    assert (tmp_path / "open" / "why.py").exists()
    assert not (tmp_path / "blind" / "fault.py").exists()
    assert not (tmp_path / "blind" / "why.py").exists()


def test_why(sound, cli):
    assert "Toy-1 ships no why.py; its README tells the root cause" in cli("why", "Toy-1")[2]
    sound.write("why.py", WHY)
    python = ("--python", sys.executable)
    assert cli("why", "Toy-1", *python)[:2] == (0, "factor is 2\n")
    assert cli("why", "Toy-1", *python, "--inject")[:2] == (0, "factor is 1\n")
    assert "trainbugs why Toy-1" in cli("info", "Toy-1")[1]
    assert "--inject" in cli("info", "Toy-1")[1]
    sound.write("why.py", r"import os; os.write(1, b'a\tb\n\x1b[2J\xff\r\n')")
    assert cli("why", "Toy-1", *python)[:2] == (0, "a\tb\n\\x1b[2J\ufffd\n")
    status, _, err = cli("why", "Toy-1", *python, "--environment", "toy")
    assert status == 2
    assert "exclude each other" in err
    sound.write("fault.py", REFUSAL)
    status, out, err = cli("why", "Toy-1", *python, "--inject")
    assert (status, out) == (2, "")
    assert err.endswith("release 9 is not known\n")
    (sound.directory / "fault.py").unlink()
    assert "ships no fault.py" in cli("why", "Toy-1", *python, "--inject")[2]
