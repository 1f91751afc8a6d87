"""Clusters: real schedulers and workers on this machine, calls that note what happens to them in
files.
"""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import CancelledError, wait
from pathlib import Path

import pytest
from support.clusters import ENV, Dask, child, die, fail, kill_group, leave_once, lines, note, until

from runner.cluster import calls, client, connection
from runner.cluster.client import connect
from runner.errors import ClusterError, UsageError, WorkerLostError

pytestmark = pytest.mark.stress


# What workers are asked to do: they import this file.


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def dask(tmp_path):
    started = Dask(tmp_path)
    yield started
    started.close()


@pytest.mark.parametrize("spec", ["dask", "dask:", "slurm:x", "threads", ""])
def test_what_is_no_executor(spec):
    with pytest.raises(UsageError, match="expected dask:HOST:PORT, dask:SCHEDULER_FILE or slurm"):
        connect(spec, 1)


def test_no_scheduler(monkeypatch, tmp_path):
    monkeypatch.setattr(connection, "CONNECT_S", 0.5)
    with pytest.raises(
        ClusterError,
        match=r"^tcp://127.0.0.1:9: no Dask scheduler answers within 0.5 s \(.*\); start",
    ):
        connect("dask:127.0.0.1:9", 1)
    with pytest.raises(UsageError, match=r"scheduler file .*none.json.: cannot be read"):
        connect(f"dask:{tmp_path}/none.json", 1)
    (tmp_path / "x").write_text("[]")
    with pytest.raises(UsageError, match="expected what"):
        connect(f"dask:{tmp_path}/x", 1)


@pytest.mark.parametrize("kind, missing", [("dask", "distributed"), ("slurm", "dask_jobqueue")])
def test_the_extra_is_not_installed(monkeypatch, kind, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        UsageError,
        match=rf"executor {kind}: no module {missing} here; type `pip install distributed",
    ):
        connect("slurm" if kind == "slurm" else "dask:127.0.0.1:9", 1)


def test_nothing_but_a_cluster_imports_dask():
    script = (
        "import sys, trainbugs.cli.main, runner.cluster.client; print({'dask', 'distributed'} & "
        "set(sys.modules))"
    )
    program = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert program.stdout == "set()\n"


def test_calls_their_errors_and_what_ends_them(dask, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(client, "PATIENCE_S", 0.5)
    with connect(dask.spec, 1) as workers:
        first = workers.submit(note, str(tmp_path), 7, 0)
        until(workers.trouble)
        assert re.fullmatch(
            f"{re.escape(workers.where)}: no worker has joined for [0-9]+ s; "
            f"start one: dask worker {re.escape(workers.where)} --nthreads 1",
            workers.trouble(),
        )
        dask.worker()
        assert first.result(timeout=30) == 49
        assert workers.trouble() is None
        assert workers.threads == 1

        error = workers.submit(fail, UsageError, "it is wrong").exception(timeout=10)
        assert type(error) is UsageError
        assert str(error) == "it is wrong"
        assert "in fail" in error.__notes__[0]

        assert workers.submit(leave_once, str(tmp_path)).result(timeout=10) == "stayed"

        running = workers.submit(child, str(tmp_path))
        until((tmp_path / "child").exists)
        pid = int((tmp_path / "child").read_text())
        assert alive(pid)
        assert running.cancel()
        until(lambda: not alive(pid))
        assert workers.submit(note, str(tmp_path), 3, 0).result(timeout=10) == 9

        (tmp_path / "child").unlink()
        waiting = [workers.submit(child, str(tmp_path)) for _ in range(3)]
        until((tmp_path / "child").exists)
        assigned = sum(map(len, workers._client.processing().values()))
        assert assigned == 1, "the worker is held responsible for more than what it does"
    pid = int((tmp_path / "child").read_text())
    for future in waiting:
        with pytest.raises(CancelledError):
            future.result(timeout=5)
    until(lambda: not alive(pid))
    assert capfd.readouterr() == ("", "")


def test_a_caller_that_is_killed(dask, tmp_path):
    dask.worker()
    script = f"connect({dask.spec!r}, 1).submit(clusters.child, {str(tmp_path)!r}).result()"
    script = f"from runner.cluster.client import connect; from support import clusters; {script}"
    caller = subprocess.Popen([sys.executable, "-c", script], env=ENV)
    until((tmp_path / "child").exists)
    pid = int((tmp_path / "child").read_text())
    assert alive(pid)
    caller.kill()
    caller.wait()
    until(lambda: not alive(pid))


def test_a_scheduler_that_goes_away(dask, tmp_path, capfd):
    dask.worker()
    with connect(dask.spec, 1) as workers:
        futures = [workers.submit(child, str(tmp_path)) for _ in range(3)]
        until((tmp_path / "child").exists)
        dask.scheduler.kill()
        assert not wait(futures, timeout=15).not_done
        futures.append(workers.submit(child, str(tmp_path)))
        for future in futures:
            assert type(future.exception(timeout=5)) is ClusterError
            assert "the scheduler is gone; start it and the same command again" in str(
                future.exception()
            )
    pid = int((tmp_path / "child").read_text())
    until(lambda: not alive(pid))
    assert capfd.readouterr() == ("", "")


def test_workers_without_trainbugs_or_with_another_one(dask, tmp_path):
    blocking, other = tmp_path / "blocking", tmp_path / "other"
    blocking.mkdir()
    (blocking / "sitecustomize.py").write_text("import sys\nsys.modules['runner'] = None\n")
    shutil.copytree(
        Path(calls.__file__).parents[1],
        other / "runner",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    with (other / "runner" / "bugs" / "model.py").open("a") as file:
        file.write("# changed\n")

    with connect(dask.spec, 1) as workers:
        late = dask.worker(PYTHONPATH=f"{other}:{ENV['PYTHONPATH']}")
        differs = r"worker tcp://.* has trainbugs \S+ \(source .*\), here it is .*; install the same there"
        with pytest.raises(UsageError, match=differs):
            workers.submit(note, str(tmp_path), 1, 0).result(timeout=30)
        with pytest.raises(UsageError, match=differs):
            connect(dask.spec, 1)
        kill_group(late.pid)
        until(lambda: workers.threads == 0)
        dask.worker(PYTHONPATH=str(blocking))
        with pytest.raises(UsageError, match="a worker lacks trainbugs .*; install the same"):
            workers.submit(note, str(tmp_path), 1, 0).result(timeout=30)
    with pytest.raises(UsageError, match="worker tcp://.* lacks trainbugs .*; install the same"):
        connect(dask.spec, 1)


def test_a_call_that_kills_its_workers(dask):
    dask.worker("--nanny")
    with (
        connect(dask.spec, 1) as workers,
        pytest.raises(WorkerLostError, match="4 workers were lost while they did it"),
    ):
        workers.submit(die).result(timeout=60)


@pytest.mark.stress
def test_a_lost_worker_costs_only_what_it_was_doing(dask, tmp_path):
    doomed, _ = dask.worker("--no-nanny"), dask.worker("--no-nanny")
    with connect(dask.spec, 2) as workers:
        until(lambda: workers.threads == 2)
        futures = [workers.submit(note, str(tmp_path), number, 0.05) for number in range(120)]
        until(lambda: len(lines(tmp_path / "ended")) > 50)
        kill_at_work(doomed, tmp_path)
        results = [future.result(timeout=30) for future in futures]
    assert results == [number * number for number in range(120)]
    ended = [int(line) for line in lines(tmp_path / "ended")]
    assert sorted(ended) == list(range(120)), "what had ended was done again"
    begun = [line.split() for line in lines(tmp_path / "begun")]
    times_begun = Counter(int(number) for number, _ in begun)
    (again,) = [number for number, times in times_begun.items() if times > 1]
    assert begun.count([str(again), str(doomed.pid)]) == 1, (
        "what the lost worker did was done by another one"
    )


def kill_at_work(worker, folder):
    """Kill a worker between begin and end of a call."""
    while True:
        worker.send_signal(signal.SIGSTOP)
        begun = [
            number
            for number, pid in map(str.split, lines(folder / "begun"))
            if int(pid) == worker.pid
        ]
        if set(begun) - set(lines(folder / "ended")):
            return worker.kill()
        worker.send_signal(signal.SIGCONT)
        time.sleep(0.02)
