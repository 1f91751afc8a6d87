"""How is a Dask scheduler reached, and do its workers have what we have? Failures are one line for the user."""

import json
import logging
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

from runner.cluster import calls
from runner.errors import ClusterError, UsageError

CONNECT_S = 10.0


def require(kind: str) -> None:
    """Raise UsageError unless the packages of the extra `dask` or `slurm` are installed."""
    try:
        import distributed  # noqa: F401

        if kind == "slurm":
            import dask_jobqueue  # noqa: F401
    except ImportError as error:
        missing = f"no module {error.name} here" if error.name else str(error)
        raise UsageError(f"executor {kind}: {missing}; pip install 'trainbugs[{kind}]'") from error


def address(given: str) -> str:
    """The address of a scheduler, which may be given as the file that the scheduler writes."""
    if "://" in given:
        return given
    if not (given.endswith(".json") or "/" in given or Path(given).is_file()):
        return f"tcp://{given}"
    try:
        return str(json.loads(Path(given).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"scheduler file {given!r} cannot be read ({first_line(error)}); expected what "
            "`dask scheduler --scheduler-file` writes"
        ) from error


def client(where: str, to: Any) -> Any:
    """A client of a scheduler: an address, or a cluster that was started. Dask logs nothing from here on."""
    import distributed

    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "dask_jobqueue", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            # Another version somewhere: `check` says that in one line.
            warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
            return distributed.Client(to, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:
        raise ClusterError(
            f"{where}: no Dask scheduler answers within {CONNECT_S:g} s ({first_line(error)}); "
            "start one with `dask scheduler`, or name another"
        ) from error


def check(client: Any, where: str) -> None:
    """Raise UsageError unless all workers have the trainbugs, Python and distributed that are installed here.

    The scheduler needs no trainbugs. A worker that does not answer is about to be given up by the scheduler.
    """
    here = calls.identity()
    try:
        release = client.run_on_scheduler(version, "distributed")
        found = client.run(calls.identity, on_error="return")
    except Exception as error:
        raise ClusterError(f"{where}: the scheduler cannot be talked with ({first_line(error)})") from error
    if release != here["distributed"]:
        raise UsageError(
            f"{where}: the scheduler has distributed {release}, here it is {here['distributed']}; install the same"
        )
    for worker, there in found.items():
        if isinstance(there, OSError):
            continue
        if isinstance(there, Exception):
            raise lacking(f"{where}: worker {worker}", there)
        differs = calls.difference(here, there)
        if differs:
            raise UsageError(f"{where}: worker {worker} {differs}")


def lacking(who: str, error: BaseException) -> UsageError:
    """What to tell of a worker that could not even begin with a call."""
    here = calls.identity()["trainbugs"]
    return UsageError(f"{who} lacks trainbugs ({first_line(error)}); pip install {here} there, as here")


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
