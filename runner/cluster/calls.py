"""What does a worker of a cluster do? It performs a call, says who it is, and learns that nobody waits any more."""

import hashlib
import pickle
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from runner.errors import UsageError

# Of a worker that can go on with what it does; else it is about to end, and all that it does is done elsewhere.
ALIVE = ("running", "paused", "closing_gracefully")


class Abandoned(Exception):  # noqa: N818 - nothing is wrong
    """Nobody waits for the call any more. No error for a user: there is nobody to read it."""


class _Current(threading.local):
    """The worker that runs this thread and the key of its task; None outside of a call."""

    worker: Any = None
    key: Any = None


_current = _Current()


def stop_if_abandoned() -> None:
    """Raise Abandoned in a call for which nobody waits any more: it was cancelled, or the caller or the scheduler died.

    Nothing but the call itself can end the programs that it has started. Does nothing outside of a worker.
    """
    worker = _current.worker
    if worker is None:
        return
    task = worker.state.tasks.get(_current.key)
    if worker.status.name not in ALIVE or task is None or task.state == "cancelled":
        raise Abandoned


@cache
def identity() -> dict[str, str]:
    """What must be the same here and on every worker: the programs, and what they talk with."""
    try:
        release = version("trainbugs")
    except PackageNotFoundError:
        release = "not installed"
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return {
        "trainbugs": f"{release} (source {digest.hexdigest()[:8]})",
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "distributed": version("distributed"),
    }


def difference(here: dict[str, str], there: dict[str, str]) -> str | None:
    """What differs between two identities, in words; None where nothing does."""
    for name, value in here.items():
        if there.get(name) != value:
            return f"has {name} {there.get(name)}, here it is {value}; install the same there"
    return None


def pack(function: Callable[..., Any], *args: Any) -> bytes:
    """A call as bytes that do it where they are unpickled; there, they become what `unpack` takes.

    So a worker needs no name of ours before it begins: that trainbugs is not installed there is an error of the call.
    """
    return pickle.dumps(_Call(pickle.dumps((identity(), function, args))))


class _Call:
    def __init__(self, packed: bytes) -> None:
        self.packed = packed

    def __reduce__(self) -> tuple[Callable[[bytes], bytes], tuple[bytes]]:
        return perform, (self.packed,)


def perform(call: bytes) -> bytes:
    """Do a call on a worker; what the function returned or raised, so that what Dask raises is no error of it."""
    from distributed import get_worker

    worker = get_worker()
    _current.worker, _current.key = worker, worker.get_current_task()
    try:
        here, function, args = pickle.loads(call)
        differs = difference(here, identity())
        if differs:
            raise UsageError(f"worker {worker.address} {differs}")
        return pickle.dumps((function(*args), None))
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        return pickle.dumps((None, error))
    finally:
        _current.worker = _current.key = None


def unpack(outcome: bytes) -> Any:
    """What a performed call returned; raises what it raised."""
    value, error = pickle.loads(outcome)
    if error is not None:
        raise error
    return value
