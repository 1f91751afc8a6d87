"""Many runs at a time: the same records as one after the other, nothing done twice, nothing left
running.
"""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.copies import replace
from support.records import without_times
from support.toy import SCRIPT, toy_config

from runner.environments.runtime import Runtimes
from runner.errors import ResultsError, UsageError

PYTHON = ("--python", sys.executable)
# Notes each execution outside of the results, and waits until `together` of them are under way.
MEET = """\
import os, time
from pathlib import Path
notes = Path("NOTES")
(notes / f"{os.getpid()}").write_text(Path("config.json").read_text())
until = time.monotonic() + 20
while len(list(notes.iterdir())) < TOGETHER and time.monotonic() < until:
    time.sleep(0.01)
assert time.monotonic() < until, "alone"
"""


def meeting(toy, notes, together, variants=("buggy", "fixed")):
    notes.mkdir()
    for variant, factor in zip(("buggy", "fixed"), "12", strict=True):
        meet = (
            MEET.replace("NOTES", str(notes)).replace("TOGETHER", str(together))
            if variant in variants
            else ""
        )
        toy.write(f"{variant}.py", meet + SCRIPT.replace("VALUE", factor))


def test_records_are_those_of_one_after_the_other(toy, tmp_path):
    serial, parallel = toy.run(), toy.run(jobs=3, results=tmp_path / "parallel")
    assert without_times(parallel.records) == without_times(serial.records)
    assert parallel.verdict == serial.verdict


def test_as_many_run_at_the_same_time_as_there_are_slots(toy, tmp_path, shared):
    meeting(toy, shared / "notes", 4)
    assert toy.run(jobs=4).verdict.outcome == "REPRODUCED"


def test_targets_are_in_their_order_whatever_ends_first(cli, toy):
    case = toy_config()["cases"]["only"]
    slow = case | {"parameters": {"num_epoch": 4}, "records": 4}
    expectations = [
        item | {"value": 8} if "minus" not in item else item | {"value": 4}
        for item in case["expectations"]
    ]
    toy.configure(cases={"slow": slow | {"expectations": expectations}, "quick": case})
    status, out, err = cli("run", "Toy-1", "-j", "2", *PYTHON)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:3]] == [
        "Toy-1/slow",
        "Toy-1/quick",
    ]
    assert [line.split("]")[0] for line in err.splitlines()] == [f"[{n}/8" for n in range(1, 9)]


def test_a_run_that_is_named_twice_is_done_once(toy, tmp_path, shared):
    meeting(toy, shared / "notes", 1)
    session = toy.session(jobs=2, force=True)
    first, second = session.run(
        [*session.catalog.select(["Toy-1"]), *session.catalog.select(["Toy-1/only"])]
    )
    assert first.records == second.records
    assert len(list((shared / "notes").iterdir())) == 4


def test_two_commands_over_one_results_folder_share_the_work(toy, tmp_path, shared):
    meeting(toy, shared / "notes", 2)
    words = ("run", toy.directory, "--seeds", "0,1,2", *PYTHON)
    command = [sys.executable, "-m", "runner", *map(str, words)]
    options = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    children = [subprocess.Popen(command, **options) for _ in range(2)]
    ended = [(child.communicate(timeout=60), child.returncode) for child in children]
    assert [status for _, status in ended] == [0, 0], ended
    assert len(list((shared / "notes").iterdir())) == 6, "no run was done by both"
    tables = [out.splitlines()[1].split()[:3] for (out, _), _ in ended]
    assert tables == [["Toy-1/only", "REPRODUCED", "6"]] * 2


def test_gpus_are_dealt(cli, toy, monkeypatch):
    """No GPU is needed to see which one a run is told to use."""
    place = Runtimes.get
    monkeypatch.setattr(
        Runtimes, "get", lambda self, name: replace(place(self, name), device="cuda")
    )
    toy.write(
        "buggy.py", "import os, sys\nprint(os.environ['CUDA_VISIBLE_DEVICES'], file=sys.stderr)\n"
    )
    toy.write("fixed.py", (toy.directory / "buggy.py").read_text())
    assert cli("run", "Toy-1", "--gpus", "1,3", "--seeds", "0,1,2,3", *PYTHON)[0] == 2
    gpus = [path.read_text().strip() for path in Path("results").rglob("*.stderr")]
    assert len(gpus) == 8
    assert set(gpus) == {"1", "3"}


@pytest.mark.parametrize(
    "options, words",
    [
        (("-j", "0"), "expected a number of at least 1"),
        (("-j", "two"), "expected a number of at least 1"),
        (("--gpus", "0,0"), "expected different numbers"),
        (("--gpus", "0", "--device", "cpu"), "leave one of them out"),
        (
            ("--gpus", "3,7"),
            "--gpus: own (no torch) sees no GPU here; to use the CPU, leave it out",
        ),
        (("--repeat", "0"), "expected a number of at least 1"),
    ],
)
def test_mistakes_get_one_line(cli, options, words):
    status, out, err = cli("run", "Toy-1", *options, *PYTHON)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert words in err


def test_mistakes_in_python_too(toy):
    for wrong in ({"jobs": 0}, {"repeat": 0}, {"gpus": (0, 0)}):
        with pytest.raises(UsageError):
            toy.run(**wrong)


def test_an_interrupt_stops_all_that_run(toy, tmp_path, shared):
    notes = shared / "notes"
    meeting(toy, notes, 100)
    command = [sys.executable, "-m", "runner", "run", toy.directory, "-j", "4", *PYTHON]
    with subprocess.Popen(
        [str(part) for part in command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as program:
        until = time.monotonic() + 20
        while len(list(notes.iterdir())) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=10)
    assert program.returncode == 130
    assert "Traceback" not in err
    assert "interrupted" in err.splitlines()[-1]
    assert not [pid for pid in notes.iterdir() if Path("/proc", pid.name).exists()]
    assert sorted(path.name for path in (tmp_path / "results").rglob("*")) == [
        ".claims",
        ".directory",
        "Toy-1",
    ]


@pytest.mark.parametrize("method", ["save", "save_verdict"])
def test_what_cannot_be_written_stops_the_others(toy, tmp_path, monkeypatch, method, shared):
    """A record is written by the thread that made it, a verdict by the main one, while other runs
    go on.
    """
    meeting(toy, shared / "notes", 100, ["fixed"])
    case = toy_config()["cases"]["only"]
    first = case | {"variants": case["variants"] | {"fixed": {"script": "quick.py"}}}
    toy.write("quick.py", SCRIPT.replace("VALUE", "2"))
    toy.configure(cases={"first": first, "second": case})

    def full(store, *arguments):
        raise ResultsError("no room")

    monkeypatch.setattr(f"runner.results.store.Store.{method}", full)
    start = time.monotonic()
    with pytest.raises(ResultsError, match="no room"):
        toy.run(jobs=4)
    assert time.monotonic() - start < 15
    assert not [pid for pid in (shared / "notes").iterdir() if Path("/proc", pid.name).exists()]


def test_on_a_terminal_one_sees_what_runs(toy, tmp_path):
    slow = "__import__('time').sleep(0.25)\n    records.append"
    for variant in ("buggy", "fixed"):
        toy.write(
            f"{variant}.py",
            (toy.directory / f"{variant}.py").read_text().replace("records.append", slow),
        )
    leader, follower = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "runner",
        "run",
        toy.directory,
        "--seeds",
        "0",
        "-j",
        "2",
        *PYTHON,
    ]
    subprocess.run(
        [str(part) for part in command],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=follower,
        check=True,
    )
    os.close(follower)
    screen = os.read(leader, 10_000).decode()
    os.close(leader)
    assert "0 of 2 done, 2 running\r\n  Toy-1/only/buggy seed 0" in screen
    assert re.search(r"fixed seed 0  \d s  2 records", screen)


def test_what_a_case_declares_to_need_is_kept_free(toy):
    config = toy_config()
    config["cases"]["only"]["memory_gb"] = 3.5
    toy.configure(**config)
    session = toy.session(jobs=2)
    assert {run.need.memory_gb for run in session.plan(session.catalog.select(["Toy-1"])[0])} == {
        3.5
    }


def test_a_verdict_is_there_as_soon_as_its_case_is_done(toy, tmp_path):
    """The second case fails in the middle of the command; the verdict of the first is kept."""
    case = toy_config()["cases"]["only"]
    endless = {"buggy": {"script": "endless.py"}, "fixed": {"script": "endless.py"}}
    toy.write("endless.py", "import time\ntime.sleep(60)\n")
    toy.configure(cases={"first": case, "second": case | {"variants": endless}})
    command = [sys.executable, "-m", "runner", "run", toy.directory, *PYTHON]
    verdict = tmp_path / "results" / "Toy-1" / "first" / "verdict.json"
    with subprocess.Popen(
        [str(part) for part in command], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as program:
        until = time.monotonic() + 20
        while not verdict.exists() and time.monotonic() < until:
            time.sleep(0.01)
        program.kill()
    assert json.loads(verdict.read_text())["verdict"] == "REPRODUCED"
