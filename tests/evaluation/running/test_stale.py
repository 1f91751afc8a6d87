"""Records of programs whose scripts have changed since: of controls they count, and are named;
of bugs they do not count.
"""

import json

import pytest
from msgspec.structs import replace
from support.detectors import write_detector
from support.paths import ROOT
from support.toy import OWN_PYTHON, SCRIPT

from evaluation.catalog import controls
from evaluation.reading.stale import stale_controls, stale_programs
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore

NEVER = "main(lambda target, state: {})"


@pytest.fixture
def folder(toy):
    """Two controls in the toy catalogue, one of which has a parameter of its own."""
    folder = toy.root / "detectors" / "controls"
    folder.mkdir(parents=True)
    described = {
        "schema": 1, "environment": "toy", "timeout_s": 20, "references": ["plain"],
        "parameters": {"seed": 0, "device": "auto", "output": "metrics"},
        "controls": {
            name: {"title": "a toy", "accused": "by none", "parameters": {"num_epoch": number}}
            for name, number in (("plain", 3), ("odd", 4))
        },
    }  # fmt: skip
    (folder / "controls.json").write_text(json.dumps(described))
    for name in ("plain", "odd"):
        (folder / f"{name}.py").write_text(SCRIPT.replace("VALUE", "5"))
    return folder


def test_what_was_checked_before_a_script_or_a_parameter_changed_is_stale(
    cli, toy, tmp_path, folder
):
    command = (
        "evaluate",
        "--detector",
        write_detector(tmp_path / "never", NEVER),
        "--overhead",
        "none",
        *OWN_PYTHON,
    )
    assert cli(*command, "--results", toy.results)[0] == 0
    scored = ("scores", "--from", "results", "--results", toy.results)
    assert "stale" not in cli(*scored)[2]
    script = folder / "plain.py"
    script.write_text(script.read_text() + "# Another comment\n")
    status, out, err = cli(*scored)
    assert status == 0, "stale records count"
    assert "0/2" in out, "stale records count"
    assert (
        "1 of 2 records of controls are stale, but count: their scripts have changed since; "
        "evaluate the detectors anew" in err
    )
    described = json.loads((folder / "controls.json").read_text())
    described["controls"]["odd"]["parameters"]["num_epoch"] = 5
    (folder / "controls.json").write_text(json.dumps(described))
    assert "2 of 2 records of controls are stale" in cli(*scored)[2]


def test_records_that_do_not_say_and_those_of_lost_or_rewritten_controls_are_not_stale(
    cli, toy, tmp_path, folder
):
    command = (
        "evaluate",
        "--detector",
        write_detector(tmp_path / "never", NEVER),
        "--overhead",
        "none",
        *OWN_PYTHON,
    )
    cli(*command, "--results", toy.results)
    checks = [
        check
        for check in CheckStore(toy.results / "detectors").read().checks
        if check.kind == "control"
    ]
    control_set, other = (
        controls.load(toy.root),
        [replace(check, program="0" * 64) for check in checks],
    )
    assert len(checks) == 2
    assert len(stale_controls(other, control_set)) == 2
    for changes in ({"program": None}, {"case": "lost"}, {"perturb": 1}):
        assert stale_controls([replace(check, **changes) for check in other], control_set) == []


def test_committed_records_shown_say_which_program_they_are_of():
    checks = CommittedChecks(ROOT / "detectors" / "expected").read().checks
    shown = [check for check in checks if check.kind == "control"]
    assert shown
    assert all(check.program for check in shown)
    stale = {check.case for check in stale_controls(checks, controls.load(ROOT))}
    text = (ROOT / "docs" / "records.md").read_text()
    assert not stale or "The records of controls are stale" in text


def test_records_of_a_bug_whose_script_has_changed_are_in_no_score(cli, toy, tmp_path, folder):
    never = write_detector(tmp_path / "never", NEVER)
    command = ("evaluate", "--detector", never, "--overhead", "none", *OWN_PYTHON)
    assert cli(*command, "--results", toy.results)[0] == 0
    records = CheckStore(toy.results / "detectors").read()
    assert stale_programs(records.checks, toy.catalog) == []
    toy.write("fixed.py", SCRIPT.replace("VALUE", "3"))
    (stale,) = stale_programs(records.checks, toy.catalog)
    assert (stale.bug, stale.kind) == ("Toy-1", "fixed")
    status, out, err = cli("scores", "--from", "results", "--results", toy.results)
    assert status == 0
    assert "1 records are of bugs whose programs have changed since, and in no score" in err
