"""The connection to a Dask scheduler, and the check of its workers' versions; failures are one line
for the user.
"""

import asyncio
import logging
import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from runner.cluster import calls
from runner.errors import ClusterError, UsageError
from runner.files.untrusted import UnsafeError, brief, read_json

CONNECT_S = 10.0
# What each kind of executor imports.
MODULES = {"dask": "distributed", "slurm": "dask_jobqueue"}
# What to type where they are missing.
PACKAGES = {
    "dask": "type `pip install distributed`",
    "slurm": "type `pip install distributed dask-jobqueue`",
}
# Size of a scheduler file, which has an entry for each worker.
MAX_FILE_BYTES = 1_000_000


def require(kind: str) -> None:
    """Raise UsageError unless the packages of the extra `dask` or `slurm` are installed, and can
    read their configuration.
    """
    try:
        import distributed  # noqa: F401

        if kind == "slurm":
            _import_jobqueue()
    except ImportError as error:
        missing = f"no module {error.name} here" if error.name else str(error)
        raise UsageError(f"executor {kind}: {missing}; {PACKAGES[kind]}") from error
    except (ValueError, OSError) as error:
        # Dask reads the user's files of configuration as soon as it is imported.
        what, _, original = first_line(error).partition(", original")
        cure = "mend that file" if original else f"`python -c 'import {MODULES[kind]}'` says more"
        raise UsageError(f"executor {kind}: {what}; {cure}") from error


def _import_jobqueue() -> None:
    """Import dask_jobqueue, which would make each SIGINT an end with exit status 0."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue  # noqa: F401
    finally:
        if threading.current_thread() is threading.main_thread() and handler is not None:
            signal.signal(signal.SIGINT, handler)


def address(text: str) -> str:
    """The address of a scheduler, which may be named by the file that the scheduler writes; raises
    UsageError.
    """
    if "://" in text:
        return _checked(text)
    if not (text.endswith(".json") or "/" in text or Path(text).is_file()):
        return _checked(f"tcp://{text}")
    try:
        return _checked(_address_in(Path(text)))
    except (UnsafeError, KeyError, TypeError) as error:
        raise UsageError(
            f"scheduler file {text!r}: {first_line(error)}; expected what "
            "`dask scheduler --scheduler-file` writes"
        ) from error


def _address_in(file: Path) -> str:
    """The address in a scheduler file; raises UnsafeError, KeyError or TypeError for another
    file.
    """
    named = read_json(file, MAX_FILE_BYTES)["address"]
    if not isinstance(named, str):
        raise UnsafeError(f"address is {brief(named)}, expected a text")
    return named


def _checked(address: str) -> str:
    """The address; raises UsageError where Dask would fail on it only after a while."""
    from distributed.comm.addressing import get_address_host

    try:
        # As the look-up of a host encodes it.
        get_address_host(address).encode("idna")
    except ValueError as error:
        raise UsageError(
            f"{address} is no address of a scheduler ({first_line(error)}); expected HOST:PORT"
        ) from error
    return address


def client(where: str, to: Any) -> Any:
    """A client of a scheduler; `to` is an address or a started cluster.

    Dask logs nothing from here on. Raises ClusterError where no scheduler answers.
    """
    import distributed

    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "dask_jobqueue", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        if isinstance(to, str):
            # In a thread of its own: a notebook has a loop in this one.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(lambda: asyncio.run(_shake_hands(to))).result()
        with warnings.catch_warnings():
            # `check` reports other versions in one line.
            warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
            return distributed.Client(to, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:
        raise ClusterError(
            f"{where}: no Dask scheduler answers within {CONNECT_S:g} s ({first_line(error)}); "
            "start one with `dask scheduler`, or name another"
        ) from error


async def _shake_hands(address: str) -> None:
    """Raise OSError where nothing answers as a scheduler does: a Client would wait for ever for
    what else has that port.
    """
    from distributed.comm import connect
    from distributed.security import Security

    secrets = Security().get_connection_args("client")
    try:
        talk = connect(address, timeout=CONNECT_S, **secrets)
        comm = await asyncio.wait_for(talk, CONNECT_S + 1)
    except TimeoutError as error:
        raise OSError(
            "something listens there, and is no scheduler; its port is mostly 8786, and 8787 its "
            "dashboard's"
        ) from error
    comm.abort()


def check(client: Any, where: str) -> None:
    """Raise UsageError unless all workers have the trainbugs, Python and distributed that are
    installed here.

    The scheduler needs no trainbugs. Workers that do not answer are ignored: the scheduler is about
    to drop them. Raises ClusterError where the scheduler does not answer.
    """
    local = calls.identity()
    try:
        release = client.run_on_scheduler(version, "distributed")
        identities = client.run(calls.identity, on_error="return")
    except Exception as error:
        raise ClusterError(
            f"{where}: the scheduler cannot be talked with ({first_line(error)})"
        ) from error
    if release != local["distributed"]:
        raise UsageError(
            f"{where}: the scheduler has distributed {release}, here it is {local['distributed']}; "
            "install the same"
        )
    for worker, remote in identities.items():
        if isinstance(remote, OSError):
            continue
        if isinstance(remote, Exception):
            raise lack_error(f"{where}: worker {worker}", remote)
        differs = calls.difference(local, remote)
        if differs:
            raise UsageError(f"{where}: worker {worker} {differs}")


def lack_error(place: str, error: BaseException) -> UsageError:
    """The error for a worker that lacks trainbugs, and so could not even begin a call."""
    package = calls.identity()["trainbugs"]
    return UsageError(
        f"{place} lacks trainbugs ({first_line(error)}); install the same checkout or wheel there: "
        f"here it is {package}"
    )


def first_line(error: BaseException) -> str:
    """The first line of an exception's message, or its type where it has none."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
