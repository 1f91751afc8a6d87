"""Does a cluster of 64 workers get its jobs as fast as one machine does? Part of benchmark.py.

The workers are simulated: one process of this machine holds the scheduler and all of them.
"""

import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import scale

from runner.cluster.backend import ClusterPool
from runner.cluster.client import connect
from runner.execution.local import LocalPool
from runner.execution.resources import Need, Slots
from runner.execution.scheduler import Job
from runner.session.options import Options
from runner.session.session import Session

ROOT = Path(__file__).resolve().parent.parent
WORKERS = 64
SERVE = """
import sys
from distributed import LocalCluster
cluster = LocalCluster(
    n_workers=int(sys.argv[1]), threads_per_worker=1, processes=False, protocol="tcp://",
    host="127.0.0.1", dashboard_address=None, silence_logs=50,
)
print(cluster.scheduler_address, flush=True)
sys.stdin.read()
"""


def bench_dask(arguments):
    with workers() as address:
        for count in (1_000, 10_000):
            jobs = [Job(str(number), Need(), number % 7, number) for number in range(count)]
            here = rate(LocalPool(Slots(2), scale.quiet()).do(jobs, same))
            with connect(f"dask:{address}", 1) as cluster:
                there = rate(ClusterPool(cluster, scale.quiet()).do(jobs, on(cluster)))
            show(f"{count} jobs that do nothing", here, there)
        for count in (1_000, 10_000):
            here = toy_runs(count, {"jobs": 2})
            show(f"{count} toy runs", here, toy_runs(count, {"executor": f"dask:{address}"}))


def on(cluster):
    """A call that does nothing, on a worker."""
    return lambda item: cluster.submit(int, item)


def same(item, share, report):
    return item


def rate(done):
    """Items a second of the iterator `done`, which begins with its first one."""
    begin = time.perf_counter()
    count = sum(1 for _ in done)
    return count / (time.perf_counter() - begin)


def toy_runs(count, where):
    """Runs a second of a toy script, this machine's Python being its environment."""
    with tempfile.TemporaryDirectory() as folder:
        catalog, seeds = scale.toy(Path(folder), count // 2)
        options = Options(
            results=Path(folder) / "results", python=Path(sys.executable), seeds=seeds, **where
        )
        start = time.perf_counter()
        (outcome,) = Session(catalog, options, scale.quiet()).run(catalog.select(["Toy-1"]))
        elapsed = time.perf_counter() - start
    assert (outcome.verdict.outcome, len(outcome.records)) == ("REPRODUCED", count)
    return count / elapsed


def show(name, here, there):
    print(
        f"{name:32s} here {here:8.1f}/s, {WORKERS} workers of Dask {there:8.1f}/s, "
        f"{there / here:.2f} of it",
        flush=True,
    )


@contextmanager
def workers():
    """The address of a scheduler with WORKERS workers of one thread."""
    command = [sys.executable, "-c", SERVE, str(WORKERS)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        yield process.stdout.readline().strip().removeprefix("tcp://")
    finally:
        process.communicate("")
