"""Kill -9 at any moment, start the same command again: nothing is done twice, nothing is
half-written or lost.
"""

import json
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.toy import SCRIPT, toy_config

KILLS = 50
VOLATILE = ("wall_s", "peak_memory_mb", "started")


def bugs(folder, seeds, sleep):
    """Three toy bugs whose runs take a moment."""
    for number in range(1, 4):
        directory = folder / f"Toy-{number}"
        directory.mkdir(parents=True)
        config = toy_config(id=f"Toy-{number}", seeds=list(range(seeds)))
        config["cases"]["only"]["expectations"][0]["value"] = 1000
        (directory / "config.json").write_text(json.dumps(config))
        for variant, factor in zip(("buggy", "fixed"), "12", strict=True):
            text = SCRIPT.replace("VALUE", factor).replace(
                "records = []", f"records = []\n__import__('time').sleep({sleep})"
            )
            (directory / f"{variant}.py").write_text(text)
        yield directory


def command(directories, results, *options):
    program = [
        sys.executable,
        "-m",
        "runner",
        "run",
        *directories,
        "--python",
        sys.executable,
        "--results",
        results,
    ]
    return [str(part) for part in (*program, *options)]


def records(results):
    """The text of every finished record and verdict that can be seen, by its path."""
    return {path: path.read_text() for path in results.glob("*/only/*.json")}


def comparable(results):
    texts = {}
    for path, text in records(results).items():
        data = json.loads(text)
        texts[path.relative_to(results)] = {
            key: value for key, value in data.items() if key not in VOLATILE
        }
    return texts


def files_below(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.mark.stress
@pytest.mark.parametrize("jobs", [1, 3])
def test_fifty_kills_change_nothing(tmp_path, monkeypatch, jobs):
    chance = random.Random(jobs)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    directories = list(bugs(tmp_path / "bugs", 18, 0.1 * jobs))
    results, undisturbed = tmp_path / "results", tmp_path / "undisturbed"
    again, before, kills, unfinished = command(directories, results, "-j", jobs), {}, 0, 0
    while kills < KILLS:
        with subprocess.Popen(
            again, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as program:
            time.sleep(chance.uniform(0.05, 0.8))
            unfinished += program.poll() is None
            program.kill()
            errors = program.stderr.read()
        assert "Traceback" not in errors
        kills += 1
        now = records(results)
        assert all(json.loads(text) for text in now.values()), "half-written"
        done = {path: text for path, text in before.items() if path.name != "verdict.json"}
        assert {path: now.get(path) for path in done} == done, "a finished run was repeated or lost"
        before = now
    assert unfinished > 0.8 * KILLS, "too little to do: the kills came too late"
    last = subprocess.run(again, capture_output=True, text=True, check=True)
    assert last.stderr.count("done before") >= len(before) - 3
    subprocess.run(command(directories, undisturbed, "-j", 4), capture_output=True, check=True)
    assert comparable(results) == comparable(undisturbed)
    assert len(comparable(results)) == 3 * 37
    assert files_below(results) == files_below(undisturbed), "something was left behind"
    leftovers = [path for path in (tmp_path / "tmp").iterdir() if not is_trial_of_python(path)]
    assert leftovers == [], "something was left among the temporary files"


def is_trial_of_python(path):
    """Whether Python's tempfile tried with a file whether it can write there, and was killed before
    it removed it.
    """
    return (
        bool(re.fullmatch("[a-z0-9_]{8}", path.name))
        and path.is_file()
        and path.read_bytes() in (b"", b"blat")
    )


@pytest.mark.stress
def test_nothing_that_a_killed_command_has_started_goes_on(tmp_path, shared):
    directory, pids = next(bugs(tmp_path / "bugs", 1, 0)), shared / "pids"
    pids.mkdir()
    (directory / "buggy.py").write_text(
        f"import os, time\nopen(f'{pids}/{{os.getpid()}}', 'w').close()\ntime.sleep(60)\n"
    )
    shutil.copyfile(directory / "buggy.py", directory / "fixed.py")
    with subprocess.Popen(
        command([directory], tmp_path / "results", "-j", 2), stderr=subprocess.DEVNULL
    ) as program:
        until = time.monotonic() + 20
        while len(list(pids.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        program.kill()
    until = time.monotonic() + 2
    while (
        any(Path("/proc", pid.name).exists() for pid in pids.iterdir()) and time.monotonic() < until
    ):
        time.sleep(0.01)
    assert len(list(pids.iterdir())) == 2
    assert not [pid.name for pid in pids.iterdir() if Path("/proc", pid.name).exists()]
