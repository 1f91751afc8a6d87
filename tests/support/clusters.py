"""Schedulers and workers on this machine, and what workers are asked to do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.cluster import calls
from support.paths import ROOT

ENV = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}

ASLEEP = "import time; time.sleep(600)"


def note(folder, number, seconds):
    """Note begin and end of a call, one line each;
    the end is noted by those that live to see it.
    """
    with Path(folder, "begun").open("a") as file:
        file.write(f"{number} {os.getpid()}\n")
    time.sleep(seconds)
    with Path(folder, "ended").open("a") as file:
        file.write(f"{number}\n")
    return number * number


def fail(kind, text):
    raise kind(text)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def leave_once(folder):
    """Do as a call on a worker that is about to end: the first time only."""
    path = Path(folder, "left")
    if not path.exists():
        path.touch()
        raise calls.Abandoned
    return "stayed"


def child(folder):
    """Run a program until nobody waits for it any more, as runs do."""
    program = subprocess.Popen([sys.executable, "-c", ASLEEP])
    Path(folder, "child-").write_text(str(program.pid))
    Path(folder, "child-").rename(Path(folder, "child"))
    try:
        while True:
            calls.stop_if_abandoned()
            time.sleep(0.02)
    finally:
        program.kill()
        program.wait()


@pytest.fixture(scope="module", autouse=True)
def configuration(tmp_path_factory):
    """Neither read nor write the user's own configuration of Dask."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DASK_CONFIG", str(tmp_path_factory.mktemp("dask-config")))
        patch.setenv("DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT", "1s")
        pytest.importorskip("distributed", reason="extra dask is not installed")
        yield


class Dask:
    """A scheduler and workers, which are processes of this machine."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.spec = f"dask:{self.file}"
        self.processes = []
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )
        until(lambda: self.file.exists() and self.file.read_text())

    def start(self, command, *options, **env):
        argv = [sys.executable, "-m", "dask", command, "--scheduler-file", self.file, *options]
        with (self.folder / f"{command}{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                list(map(str, argv)),
                stdout=log,
                stderr=log,
                env=ENV | env,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def worker(self, *options, **env):
        return self.start("worker", "--nthreads", "1", "--no-dashboard", *options, **env)

    def close(self):
        for process in self.processes:
            kill_group(process.pid)
            process.wait()


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def lines(path):
    return path.read_text().split("\n")[:-1] if path.exists() else []
