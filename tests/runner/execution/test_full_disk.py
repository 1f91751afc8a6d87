"""Disks that are full or read-only, files that are broken, environments that vanish, clocks that
jump.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.meeting import meanwhile
from support.toy import toy_config

pytestmark = pytest.mark.stress

PYTHON = ("--python", sys.executable)
MOUNT = "mount -t tmpfs -o size={size} tmpfs results"
RUN = f"{sys.executable} -m runner run {{bug}} --python {sys.executable}"


def allowed():
    tool = shutil.which("unshare")
    return (
        tool
        and subprocess.run(
            [tool, "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True
        ).returncode
        == 0
    )


@pytest.fixture
def mounted(toy, tmp_path):
    """Run a shell script with mounts of its own; returns its standard output and error."""
    if not allowed():
        pytest.skip("this kernel gives no mounts to users")
    (tmp_path / "results").mkdir()
    config = toy_config(seeds=list(range(3)))
    toy.configure(**config)

    def call(*lines):
        text = "\n".join(lines).replace("RUN", RUN.format(bug=toy.directory))
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", text], cwd=tmp_path, capture_output=True, text=True
        )
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    return call


@pytest.mark.parametrize("size", ["12k", "24k", "32k", "40k"])
def test_a_full_disk_gets_one_line_and_loses_nothing(mounted, tmp_path, size):
    whole = (
        "import json, pathlib; [json.loads(p.read_text()) for p in "
        "pathlib.Path('results').rglob('*.json')]"
    )
    (tmp_path / "whole.py").write_text(whole)
    out, err = mounted(
        MOUNT.format(size=size),
        "RUN; echo first $?; find results -name '*-seed*.json' | wc -l",
        f"{sys.executable} whole.py || exit 9",
        "mount -o remount,size=1m results",
        "RUN; echo second $?",
    )
    first, count, *_ = out.splitlines()
    assert first == "first 2", out
    assert 0 <= int(count) < 6, out
    assert out.splitlines()[-1] == "second 0", out
    full = [line for line in err.splitlines() if line.startswith("trainbugs:")]
    assert len(full) == 1
    assert "No space left on device" in full[0]
    assert "make room, and type the command again" in full[0]
    assert err.count("done before") == int(count)


def test_a_read_only_folder_gets_one_line_and_can_be_read(mounted):
    out, err = mounted(
        MOUNT.format(size="1m"),
        "RUN --seeds 0 >/dev/null 2>&1; echo $?",
        "mount -o remount,ro results",
        "RUN; echo $?",
        f"{sys.executable} -m runner results",
    )
    assert out.splitlines()[:2] == ["0", "2"]
    assert "Read-only file system" in err.splitlines()[-1]
    assert "--results" in err.splitlines()[-1]
    assert len(out.splitlines()) == 5, out


def test_an_environment_that_vanishes_makes_runs_invalid_and_no_more(
    cli, toy, toy_environment, shared, tmp_path
):
    text = (toy.directory / "buggy.py").read_text()
    pause = meanwhile(
        shared, lambda: shutil.rmtree(next(tmp_path.glob("cache/environments/toy-*/")))
    )
    toy.write("buggy.py", text + pause + "import no_such_module\n")
    status, out, err = cli("run", "Toy-1", "--seeds", "0")
    assert status == 2
    assert "INVALID" in out
    assert "environment broken" in out.splitlines()[1]
    assert "trainbugs env build toy --force" in err
    toy.write("buggy.py", text)
    assert cli("run", "Toy-1", "--seeds", "0")[0] == 0, "the next command builds it again"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": 1}', '"' + "x" * 100_000])
def test_a_broken_record_is_made_again(cli, toy, text):
    assert cli("run", "Toy-1", *PYTHON)[0] == 0
    path = next(Path("results").rglob("fixed-seed1-*.json"))
    path.write_text(text)
    status, _, err = cli("run", "Toy-1", *PYTHON)
    assert status == 0
    assert err.count("done before") == 3
    assert json.loads(path.read_text())["status"] == "ok"


@pytest.mark.parametrize("when", [0, 4_000_000_000])
def test_a_clock_that_jumps_repeats_nothing(cli, toy, when):
    assert cli("run", "Toy-1", *PYTHON)[0] == 0
    for path in Path("results").rglob("*"):
        os.utime(path, (when, when))
    for path in Path("results").rglob("*-seed0-*.json"):
        record = json.loads(path.read_text()) | {"started": "2100-01-01T00:00:00.000+00:00"}
        path.write_text(json.dumps(record))
    status, out, err = cli("run", "Toy-1", *PYTHON)
    assert status == 0
    assert err.count("done before") == 4
    assert "REPRODUCED  4" in out
    assert len(cli("results")[1].splitlines()) == 5
