"""Checks of detectors by workers of a real Dask scheduler: the same answers as here,
and what cannot be is said.
"""

import subprocess
import sys
import time
from operator import attrgetter

import pytest
from support.clusters import Dask, until
from support.copies import replace
from support.detectors import write_detector
from support.toy import OWN_PYTHON

from evaluation.catalog import detectors
from evaluation.running import campaign, remote
from evaluation.running.options import CampaignOptions
from evaluation.store.results import CheckStore
from runner.errors import ClusterError

SHOWS = """
    def check(target, state):
        Path("note.txt").write_text("kept")
        import helper
        text = Path(target.directory, target.script).read_text()
        found = [] if "2 * epoch" in text else [alarm("text", helper.WORD, line=1)]
        return {"alarms": found, "artefacts": ["note.txt"]}
    main(check)
"""


@pytest.fixture
def shows(tmp_path):
    directory = write_detector(tmp_path / "shows", SHOWS)
    (directory / "helper.py").write_text("WORD = 'seen'\n")
    return directory


@pytest.fixture
def dask(tmp_path):
    folder = tmp_path / "dask"
    folder.mkdir()
    started = Dask(folder)
    yield started
    started.close()


def answers(folder):
    names = ("kind", "status", "reason", "alarms", "key", "code", "program", "revision")
    fields = attrgetter(*names, "runtime.pinned", "runtime.torch")
    return {
        (record.case, record.kind, record.seed): fields(record)
        for record in CheckStore(folder / "detectors").read().checks
    }


@pytest.mark.stress
def test_answers_are_those_of_this_machine_with_what_was_kept(cli, toy, shows, dask, tmp_path):
    command = (
        "evaluate",
        "--detector",
        shows,
        "--bugs",
        toy.directory,
        "--controls",
        "none",
        "--all-seeds",
        *OWN_PYTHON,
    )
    assert cli(*command, "--results", tmp_path / "here")[0] == 0
    dask.worker()
    on_workers = (*command, "--results", tmp_path / "there", "--executor", dask.spec)
    status, out, err = cli(*on_workers)
    assert status == 0, err
    assert "shows" in out, err
    assert answers(tmp_path / "there") == answers(tmp_path / "here")
    assert len(answers(tmp_path / "there")) == 4
    notes = list((tmp_path / "there" / "detectors").rglob("note.txt"))
    assert len(notes) == 4
    assert {path.read_text() for path in notes} == {"kept"}
    assert cli(*on_workers)[2].count("done before") >= 4


@pytest.mark.stress
def test_a_worker_that_is_lost_costs_what_it_did(toy, dask, tmp_path):
    """The first worker dies in its first check; another one does it again."""
    slow = write_detector(tmp_path / "slow", """
    def check(target, state):
        time.sleep(2)
        return {"alarms": []}
    main(check)
    """)  # fmt: skip
    victim = dask.worker("--no-nanny")
    command = [
        "evaluate",
        "--detector",
        slow,
        "--bugs",
        toy.directory,
        "--controls",
        "none",
        *OWN_PYTHON,
    ]
    command += ["--results", tmp_path / "there", "--executor", dask.spec]
    argv = [sys.executable, "-m", "runner", *map(str, command)]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=-1, stderr=-1, text=True) as program:
        # What detectors are comes after the bare runs, and before the first check.
        until((tmp_path / "there" / "detectors" / "slow" / "detector.json").exists, 120)
        time.sleep(1.5)
        victim.kill()
        dask.worker("--no-nanny")
        out, err = program.communicate(timeout=120)
    assert program.returncode == 0, err
    assert len(answers(tmp_path / "there")) == 2


def test_rewritten_programs_are_refused(cli, toy, shows, monkeypatch):
    monkeypatch.setattr("runner.session.session.connected", lambda executor: Nobody())
    command = (
        "evaluate",
        "--detector",
        shows,
        "--bugs",
        toy.directory,
        "--controls",
        "none",
        *OWN_PYTHON,
    )
    status, _, err = cli(*command, "--executor", "dask:nowhere", "--perturb", "1")
    assert status == 2
    assert "--perturb and --plant try programs on this machine: leave out --executor" in err


class Nobody:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def test_an_answer_of_other_code_is_refused(toy, shows, monkeypatch):
    """What a worker sends back has to be of the check that it was given."""
    plan = CampaignOptions([detectors.read(shows)], overhead_on=None)
    result = campaign.run(plan, toy.session())
    record = result.checks[0]
    other = replace(record, key="other")
    check = type("Check", (), {"blank_record": lambda self: other, "detector_run": None})()
    with pytest.raises(ClusterError, match="a worker checked it with other code than is here"):
        remote._keep(check, remote.CheckDelivery(record, {}))
