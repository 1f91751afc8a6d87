"""Function calls on a worker of a cluster: packing and executing them, the worker's versions,
abandoned calls.
"""

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

# States of a worker that can finish its call; in any other it is about to end, and its calls are
# executed elsewhere.
ALIVE = ("running", "paused", "closing_gracefully")


class Abandoned(Exception):  # noqa: N818 - nothing is wrong
    """The result of the call is no longer needed.

    Not an error for users, since none would read it.
    """


class UnfitError(Exception):
    """This worker cannot build what a call needs; another one may be able to.

    `answer` or `error` is the outcome of the call if no other worker does it. `worker` is the
    address of this one, as it names itself; empty outside of a worker.
    """

    def __init__(self, why: str, answer: Any = None, error: Exception | None = None) -> None:
        super().__init__(why, answer, error)
        self.why = why
        self.answer = answer
        self.error = error
        self.worker = _current.worker.address if _current.worker is not None else ""

    def outcome(self) -> Any:
        """What the call returned or raised."""
        if self.error is not None:
            raise self.error
        return self.answer


class _Current(threading.local):
    """The worker that runs this thread and the key of its task; None outside of a call."""

    worker: Any = None
    key: Any = None


_current = _Current()


def stop_if_abandoned() -> None:
    """Raise Abandoned in a call whose result is not needed: it was cancelled, or the caller or the
    scheduler died.

    Only the call itself can end the programs that it has started. Does nothing outside of a worker.
    """
    worker = _current.worker
    if worker is None:
        return
    task = worker.state.tasks.get(_current.key)
    if worker.status.name not in ALIVE or task is None or task.state == "cancelled":
        raise Abandoned


@cache
def identity() -> dict[str, str]:
    """The versions that must be the same here and on every worker: trainbugs (and its source),
    Python, distributed.
    """
    try:
        release = version("trainbugs")
    except PackageNotFoundError:
        release = "not installed"
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    for path in sorted(
        path for package in ("runner", "evaluation") for path in (root / package).rglob("*.py")
    ):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return {
        "trainbugs": f"{release} (source {digest.hexdigest()[:8]})",
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "distributed": version("distributed"),
    }


def difference(expected: dict[str, str], identity: dict[str, str]) -> str | None:
    """The first difference between two identities, as a text; None where there is none."""
    for name, value in expected.items():
        if identity.get(name) != value:
            return f"has {name} {identity.get(name)}, here it is {value}; install the same there"
    return None


def pack(function: Callable[..., Any], *args: Any) -> bytes:
    """Pickle a call so that unpickling it on a worker executes it; the outcome is what `unpack`
    takes.

    So a worker imports nothing of trainbugs before the call: if it is not installed there, the call
    fails and says so.
    """
    return pickle.dumps(_Call(pickle.dumps((identity(), function, args))))


class _Call:
    def __init__(self, packed: bytes) -> None:
        self.packed = packed

    def __reduce__(self) -> tuple[Callable[[bytes], bytes], tuple[bytes]]:
        return perform, (self.packed,)


def perform(call: bytes) -> bytes:
    """Execute a call on a worker; returns what the function returned or raised: only Dask's own
    errors are raised.
    """
    from distributed import get_worker

    worker = get_worker()
    _current.worker, _current.key = worker, worker.get_current_task()
    try:
        caller, function, args = pickle.loads(call)
        differs = difference(caller, identity())
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
