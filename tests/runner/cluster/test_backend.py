"""Bugs run by workers of a real Dask scheduler: the same records as here, and a lost worker costs
what it was doing.
"""

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest
from support.copies import replace
from support.processes import ancestors, is_alive, wait_until
from support.records import without_times
from support.toy import SCRIPT

from runner.cluster import backend, worker
from runner.cluster.calls import UnfitError
from runner.cluster.client import connect
from runner.errors import UsageError, WorkerLostError
from runner.session.session import Session

PYTHON = ("--python", sys.executable)


class Cluster:
    """A scheduler and its workers, on this machine; `file` is how they are named to trainbugs."""

    def __init__(self, folder, env):
        self.folder, self.env, self.file = folder, env, folder / "scheduler.json"
        self.programs = []
        self._start(
            "scheduler",
            "--scheduler-file",
            self.file,
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
        )
        until = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < until:
            time.sleep(0.05)

    def worker(self, **env):
        folder_option = ("--local-directory", self.folder / f"worker{len(self.programs)}")
        return self._start(
            "worker",
            "--scheduler-file",
            self.file,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            *folder_option,
            **env,
        )

    def _start(self, *arguments, **env):
        command = [sys.executable, "-m", "dask", *(str(argument) for argument in arguments)]
        log = (self.folder / f"{arguments[0]}{len(self.programs)}.log").open("w")
        program = subprocess.Popen(
            command, env=self.env | env, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
        )
        log.close()
        self.programs.append(program)
        return program

    def stop(self):
        for program in reversed(self.programs):
            program.kill()
            program.wait()


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    running = Cluster(folder, os.environ | {"TRAINBUGS_CACHE": str(tmp_path / "cache")})
    yield running
    running.stop()


def noting(toy, notes):
    """Each run notes its beginning and its end, with the variant and the seed; from seed 3 on it
    waits for a sign.
    """
    notes.mkdir()
    for variant, factor in zip(("buggy", "fixed"), "12", strict=True):
        note = (
            "import os, sys, time\nfrom pathlib import Path\nseed = "
            "Path('config.json').read_text().split('\"seed\": ')[1].split(',')[0]\nnotes = "
            f"Path({str(notes)!r})\nnote = notes / "
            f"f'{variant}-{{seed}}-{{os.getpid()}}'\nnote.touch()\nwhile int(seed) > 2 and not "
            "(notes / 'go.sign').exists():\n    time.sleep(0.02)\n"
        )
        toy.write(
            f"{variant}.py",
            note + SCRIPT.replace("VALUE", factor) + "\nnote.rename(note.with_suffix('.done'))\n",
        )


def doing(worker, notes):
    """The processes that do a run for a worker."""
    begun = [int(note.name.rsplit("-", 1)[1]) for note in notes.iterdir() if not note.suffix]
    return [pid for pid in begun if worker in ancestors(pid)]


@pytest.mark.stress
def test_a_lost_worker_costs_what_it_was_doing(cli, toy, tmp_path, shared, cluster):
    serial = toy.run(seeds=tuple(range(10)), results=tmp_path / "serial")
    notes = shared / "notes"
    noting(toy, notes)
    victim, _ = cluster.worker(), cluster.worker()
    command = [
        sys.executable,
        "-m",
        "runner",
        "run",
        toy.directory,
        "--executor",
        f"dask:{cluster.file}",
        *PYTHON,
    ]
    command += ["--seeds", "0,1,2,3,4,5,6,7,8,9", "--results", tmp_path / "results"]
    argv, pipe = [str(part) for part in command], subprocess.PIPE
    with subprocess.Popen(argv, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as program:
        written = (tmp_path / "results").rglob
        assert wait_until(
            lambda: len(list(written("*-seed*.json"))) == 6 and doing(victim.pid, notes), 120
        )
        [lost] = doing(victim.pid, notes)
        victim.send_signal(signal.SIGKILL)
        assert wait_until(lambda: not is_alive(lost), 60), (
            "the run that the lost worker was doing ends with it"
        )
        (notes / "go.sign").touch()
        out, err = program.communicate(timeout=120)
    assert program.returncode == 1, err
    assert out.splitlines()[1].split()[:4] == [
        "Toy-1/only",
        "NOT",
        "REPRODUCED",
        "20",
    ], err
    records = [
        json.loads(path.read_text()) for path in (tmp_path / "results").rglob("*-seed*.json")
    ]
    metrics = {(record["variant"], record["seed"]): record["metrics"] for record in records}
    assert metrics == {(r.variant, r.seed): list(map(dict, r.metrics)) for r in serial.records}
    assert len(records) == 20
    done = [path.name.rsplit("-", 1)[0] for path in notes.glob("*.done")]
    assert sorted(done) == sorted(set(done)), "what was done is not done again"
    assert len(done) == 20, "what was done is not done again"
    assert [path.name.endswith(f"-{lost}") for path in notes.iterdir() if not path.suffix] == [True]


@pytest.mark.stress
def test_records_are_those_of_this_machine_and_are_found_again(
    cli, toy, toy_environment, tmp_path, cluster
):
    """In an environment that the worker builds; what the worker does not have is a status, and
    costs no other run.
    """
    cluster.worker()
    local = toy.session(python=None, results=tmp_path / "here")
    records = local.run(local.catalog.select(["Toy-1"]))[0].records
    status, out, err = cli("run", "Toy-1", "--executor", f"dask:{cluster.file}")
    assert status == 0, err
    assert "REPRODUCED" in out, err
    assert err.partition("asking a worker")[2].count(": ok") == 4, err
    session = toy.session(python=None, results=Path("results"))
    remote = session.run(session.catalog.select(["Toy-1"]))[0].records
    assert without_times(remote) == without_times(records)
    assert all(path.stat().st_size for path in Path("results").rglob("*.stdout"))
    assert cli("run", "Toy-1", "--executor", f"dask:{cluster.file}")[2].count("done before") == 8, (
        "those of the session before among them"
    )


def joined(cluster, count):
    """Wait until so many workers have joined."""
    with connect(f"dask:{cluster.file}", count) as workers:
        assert wait_until(lambda: workers.threads == count, 60)


@pytest.mark.stress
def test_a_worker_that_cannot_build_an_environment_costs_no_run(
    cli, toy, toy_environment, tmp_path, cluster
):
    """It lacks the wheel. Alone it ends the command, with the name of its machine; beside another
    one it does no run, whichever of the two is asked first.
    """
    nothing = str(tmp_path / "nothing")
    bad = {"TRAINBUGS_CACHE": nothing, "UV_FIND_LINKS": nothing}
    spec = ("--executor", f"dask:{cluster.file}")
    cluster.worker(**bad)
    joined(cluster, 1)
    status, _, err = cli("run", "Toy-1", "--seeds", "0", *spec)
    assert status == 2
    assert f"worker {socket.gethostname()}: environment toy could not be built: " in err
    cluster.worker()
    joined(cluster, 2)
    status, out, err = cli("run", "Toy-1", *spec)
    assert status == 0, err
    assert "REPRODUCED" in out
    assert err.count(": ok, ") == 4, err


@pytest.mark.stress
def test_a_run_goes_from_a_worker_that_cannot_build_its_environment_to_another(
    toy, toy_environment, tmp_path, cluster, capsys
):
    """The environment was found on a good worker, so that the bad one is asked for runs."""
    nothing = str(tmp_path / "nothing")
    cluster.worker()
    joined(cluster, 1)
    with connect(f"dask:{cluster.file}", 1) as workers:
        session = hired(toy, workers, python=None, seeds=(0, 1, 2))
        runs = session.plan(session.catalog.select(["Toy-1"])[0])
        cluster.worker(TRAINBUGS_CACHE=nothing, UV_FIND_LINKS=nothing)
        assert wait_until(lambda: workers.threads == 2, 60)
        records = [record for _, record in session.queue.do(runs)]
        assert {record.status for record in records} == {"ok"}
    assert capsys.readouterr().err.count("cannot do it") == 1


@pytest.mark.stress
def test_a_crash_there_is_a_crash_here_with_its_logs(cli, toy, cluster):
    cluster.worker()
    toy.write("fixed.py", "import sys\nsys.exit('no idea')\n")
    status, out, err = cli(
        "run", "Toy-1", "--seeds", "0", "--executor", f"dask:{cluster.file}", *PYTHON
    )
    assert status == 2, err
    assert "INVALID" in out, err
    assert "no idea" in err, err
    assert next(Path("results").rglob("fixed*.stderr")).read_text() == "no idea\n"


class Stub:
    """A cluster of no workers: calls are done at once, but for runs whose variant is among the
    `lost`.
    """

    threads, blocked = 1, 0

    def __init__(self, *lost, trouble=None):
        self.lost, self.said = lost, trouble
        self.renamed = {}

    def trouble(self):
        return self.said

    def news(self):
        return []

    def rename(self, needs, name):
        self.renamed[needs] = name

    def submit(self, function, *arguments, needs=""):
        future = Future()
        if getattr(arguments[-1], "variant", None) in self.lost:
            future.set_exception(WorkerLostError("four workers were lost"))
            return future
        try:
            future.set_result(
                pickle.loads(pickle.dumps(function))(*pickle.loads(pickle.dumps(arguments)))
            )
        except UsageError as error:
            future.set_exception(error)
        except UnfitError as error:
            future.set_result(error.outcome())
        return future


class Waiting(Stub):
    """A cluster that does the one call that it is given when the test says so."""

    def __init__(self, trouble=None):
        super().__init__(trouble=trouble)
        self.answer = Future()

    def submit(self, function, *arguments, needs=""):
        self.call = (function, *arguments)
        return self.answer


def hired(toy, stub, **options):
    session = toy.session(**options)
    return Session(session.catalog, session.options, session.progress, stub)


def test_a_run_that_every_worker_is_lost_with_is_invalid_and_the_others_are_done(toy):
    stub = Stub("fixed")
    session = hired(toy, stub)
    outcome = session.run(session.catalog.select(["Toy-1"]))[0]
    assert outcome.verdict.outcome == "INVALID"
    assert set(stub.renamed.values()) == {outcome.records[0].runtime.environment}
    assert "four workers were lost" in outcome.verdict.reason
    assert [record.status for record in outcome.records if record.variant == "buggy"] == [
        "ok",
        "ok",
    ]
    assert toy.run().verdict.outcome == "REPRODUCED", "the next command does it again"


def test_a_worker_with_another_environment_says_so(toy, tmp_path, monkeypatch):
    session = hired(toy, Stub())
    target = session.catalog.select(["Toy-1"])[0]
    runs = [
        replace(run, runtime=replace(run.runtime, python="3.11.0", torch="9"))
        for run in session.plan(target)
    ]
    record = next(session.queue.do(runs))[1]
    assert record.status == "environment broken"
    assert "the run was planned for own" in record.reason
    assert "with Python 3.11.0, torch 9, on cpu" in record.reason


def test_a_worker_without_the_data_says_so(toy, tmp_path):
    session = hired(toy, Stub())
    run = replace(session.plan(session.catalog.select(["Toy-1"])[0])[0], data=tmp_path / "nowhere")
    record = next(session.queue.do([run]))[1]
    assert record.status == "environment broken"
    assert f"there is no {tmp_path / 'nowhere'}" in record.reason


def test_trouble_is_said_once(toy, capsys):
    session = hired(toy, Stub(trouble="no worker for 31 s; start one"))
    session.run(session.catalog.select(["Toy-1"]))
    assert capsys.readouterr().err.count("no worker for 31 s; start one\n") == 1


def test_a_wait_for_a_first_worker_is_told_again_and_again(toy, capsys, monkeypatch):
    """The first call of all asks for the environment; nothing else was looked at while it
    waited.
    """
    monkeypatch.setattr(backend, "LOOK_S", 0.05)
    monkeypatch.setattr(backend, "AGAIN_S", 0.2)
    words = "tcp://host:1: no worker has joined for 30 s; start one"
    stub = Waiting(trouble=words)
    session = hired(toy, stub)
    runtimes = []
    thread = threading.Thread(
        target=lambda: runtimes.append(session.runtimes.get("toy")), daemon=True
    )
    thread.start()
    time.sleep(1)
    assert 3 <= capsys.readouterr().err.count(f"{words}\n") <= 6
    stub.said = None
    time.sleep(0.3)
    assert "no worker" not in capsys.readouterr().err[-len(words) :]
    stub.answer.set_result(Stub.submit(stub, *stub.call).result())
    thread.join(10)
    assert [runtime.environment for runtime in runtimes] == ["own"]


def test_an_error_of_a_timeout_is_not_taken_for_a_wait(toy):
    stub = Waiting()
    stub.answer.set_exception(TimeoutError("of the worker"))
    with pytest.raises(TimeoutError, match="of the worker"):
        hired(toy, stub).runtimes.get("toy")


def test_only_the_end_of_long_logs_is_sent(toy, monkeypatch):
    monkeypatch.setattr(worker, "MAX_LOG_BYTES", 10)
    toy.write("buggy.py", "print('x' * 100)\n" + SCRIPT.replace("VALUE", "1"))
    session = hired(toy, Stub(), seeds=(0,))
    session.run(session.catalog.select(["Toy-1"]))
    assert len(next(toy.results.rglob("buggy*.stdout")).read_text()) == 10


@pytest.mark.parametrize(
    "options, words",
    [
        (("--executor", "dask:x", "-j", "2"), "-j is for this machine"),
        (("--executor", "slurm", "--gpus", "0"), "--gpus is for this machine"),
        (("--executor", "mpi"), "expected dask:HOST:PORT"),
    ],
)
def test_mistakes_get_one_line(cli, options, words):
    status, out, err = cli("run", "Toy-1", *options, *PYTHON)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert words in err
