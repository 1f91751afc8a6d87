"""How is a run done on a worker of a cluster? In the worker's own environment and on its own disk; it is sent back.

The worker writes nothing into the results folder, which it may not even see.
"""

import socket
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from runner.catalog import default_root
from runner.errors import TrainbugsError
from runner.execution import Run, execute
from runner.place import Place, Places
from runner.progress import Progress
from runner.records import RunRecord
from runner.remote import stop_if_abandoned
from runner.store import Store

# Of each stream of a run, what is sent back: its end.
MAX_LOG_BYTES = 1_000_000


@dataclass(frozen=True)
class Where:
    """How the environments of runs are found: as runner.place.Places takes it."""

    root: Path
    device: str
    python: Path | None


@dataclass(frozen=True)
class Delivery:
    """A run that was done elsewhere; `logs` by stream."""

    record: RunRecord
    logs: Mapping[str, bytes]


@cache
def _places(where: Where) -> Places:
    root = where.root if (where.root / "environments").is_dir() else default_root()
    return Places(root, Progress(sys.stderr), where.device, where.python)


def find_place(where: Where, name: str) -> Place:
    """The place of that environment on this worker, built if it is missing; raises TrainbugsError."""
    return _places(where).get(name)


def perform(where: Where, run: Run) -> Delivery:
    """Do a run that was planned elsewhere; what is wrong with this worker is a status of the run."""
    with tempfile.TemporaryDirectory(prefix="trainbugs-") as folder:
        store = Store(Path(folder))
        record = execute(_here(where, run), store, lambda elapsed, stdout: stop_if_abandoned())
        paths = {stream: store.log_path(record, stream) for stream in ("stdout", "stderr")}
        return Delivery(record, {stream: _end(path) for stream, path in paths.items() if path.exists()})


def _here(where: Where, run: Run) -> Run:
    """The run as it can be done on this worker."""
    try:
        place = find_place(where, run.place.environment)
    except TrainbugsError as error:
        return _refused(run, str(error))
    if run.data is not None and not run.data.is_dir():
        return _refused(run, f"there is no {run.data}, the folder of data")
    here = replace(run, place=place)
    if here.key != run.key:
        return _refused(run, f"has {_words(place)}; the run was planned for {_words(run.place)}")
    return here


def _refused(run: Run, why: str) -> Run:
    return replace(run, place=replace(run.place, broken=f"worker {socket.gethostname()}: {why}"))


def _words(place: Place) -> str:
    lock = (place.lock or "no lock")[:12]
    return f"{place.environment} ({lock}) with Python {place.python}, torch {place.torch}, on {place.device}"


def _end(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MAX_LOG_BYTES))
        return file.read()
