"""Runs on a worker of a cluster: executed in the worker's own environment and on its own disk, and
sent back.

The worker writes nothing into the results folder, which it may not even see.
"""

import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from runner.bugs.catalog import default_root
from runner.cluster.calls import UnfitError, stop_if_abandoned
from runner.environments.runtime import Runtime, Runtimes
from runner.errors import EnvironmentBuildError, TrainbugsError
from runner.execution.execute import execute
from runner.execution.run import Run
from runner.files.locks import working_folder
from runner.progress.lines import Progress
from runner.results.record import RunRecord
from runner.results.store import Store

# Only the end of each stream of a run is sent back.
MAX_LOG_BYTES = 1_000_000


@dataclass(frozen=True)
class Where:
    """How the environments of runs are found: arguments of runner.environments.runtime.Runtimes."""

    root: Path
    device: str
    python: Path | None
    trust: bool = False


@dataclass(frozen=True)
class Delivery:
    """The outcome of a run on a worker: its record, and the ends of its logs by stream."""

    record: RunRecord
    logs: Mapping[str, bytes]


@cache
def _runtimes(where: Where) -> Runtimes:
    root = where.root if (where.root / "environments").is_dir() else default_root()
    return Runtimes(root, Progress(sys.stderr), where.device, where.python, trust=where.trust)


def find_runtime(where: Where, name: str) -> Runtime:
    """The runtime of that environment on this worker, built if it is missing; raises
    UnfitError where that fails, and TrainbugsError.
    """
    try:
        return _runtimes(where).get(name)
    except EnvironmentBuildError as error:
        named = type(error)(f"worker {socket.gethostname()}: {error}")
        raise UnfitError(str(error), error=named) from error


def perform(where: Where, run: Run) -> Delivery:
    """Execute a run that was planned elsewhere; a problem of this worker becomes the status of the
    run. Raises UnfitError where an environment cannot be built here.
    """
    try:
        return _executed(localise(where, run))
    except UnfitError as error:
        raise UnfitError(error.why, _executed(error.answer)) from error


def _executed(run: Run) -> Delivery:
    with working_folder() as folder:
        store = Store(folder)
        record = execute(run, store, lambda elapsed, stdout: stop_if_abandoned())
        paths = {stream: store.log_path(record, stream) for stream in ("stdout", "stderr")}
        return Delivery(
            record, {stream: _end(path) for stream, path in paths.items() if path.exists()}
        )


def localise(where: Where, run: Run) -> Run:
    """The run as it can be done on this worker; `broken` of its runtime says why it cannot. Raises
    UnfitError with that run where an environment cannot be built here.
    """
    try:
        variant, name = run.case.program.variants[run.variant], run.runtime.environment
        runtime = _runtimes(where).get(variant.place if variant.environment == name else name)
    except EnvironmentBuildError as error:
        raise UnfitError(str(error), _refused(run, str(error))) from error
    except TrainbugsError as error:
        return _refused(run, str(error))
    if run.data is not None and not run.data.is_dir():
        return _refused(run, f"there is no {run.data}, the folder of data")
    local_run = replace(run, runtime=runtime)
    if local_run.key != run.key:
        return _refused(
            run, f"has {_words(runtime)}; the run was planned for {_words(run.runtime)}"
        )
    return local_run


def _refused(run: Run, why: str) -> Run:
    return replace(
        run, runtime=replace(run.runtime, broken=f"worker {socket.gethostname()}: {why}")
    )


def _words(runtime: Runtime) -> str:
    lock = (runtime.lock or "no lock")[:12]
    return (
        f"{runtime.environment} ({lock}) with Python {runtime.python}, torch {runtime.torch}, on "
        f"{runtime.device}"
    )


def _end(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MAX_LOG_BYTES))
        return file.read()
