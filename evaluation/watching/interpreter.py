"""The interpreter of the user's programs: the first one that has torch."""

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version

from runner.errors import ProcessError, UsageError
from runner.sandbox import process

OLDEST = (2, 0)
# torch says its version in a file of its own; importing it would take seconds. What lies in the
# working directory is not what a script elsewhere imports.
PROBE = """
import importlib.util, os, runpy, sys
sys.path = [path for path in sys.path if path]
found = importlib.util.find_spec("torch")
if found and found.origin:
    print(runpy.run_path(os.path.join(os.path.dirname(found.origin), "version.py"))["__version__"])
"""


class WatchedInterpreter(NamedTuple):
    """An interpreter that has torch, and the version of that."""

    path: str
    torch: str


def choose(interpreter: Path | None) -> WatchedInterpreter:
    """The named interpreter, else `python3` of PATH, else this one;
    raises UsageError where none has torch 2.0.
    """
    if interpreter is not None:
        return _checked(str(interpreter), _torch_of_named(str(interpreter)))
    candidates = _distinct(filter(None, [shutil.which("python3"), sys.executable]))
    for path in candidates:
        try:
            version = torch_of(path)
        except ProcessError:
            continue
        if version:
            return _checked(path, version)
    raise UsageError(
        f"torch is installed for none of {', '.join(candidates)}; name an interpreter that has it, "
        "--python"
    )


def _distinct(paths: Iterable[str]) -> list[str]:
    """The paths without a second name of one Python: an environment has python3 and python3.11.

    Environments share the file that their links lead to, so the folder tells them apart.
    """
    found: dict[tuple[str, str], str] = {}
    for path in paths:
        found.setdefault((str(Path(path).parent), os.path.realpath(path)), path)
    return list(found.values())


def torch_of(path: str) -> str | None:
    """The version of an interpreter's torch, None where it has none;
    raises ProcessError where it cannot be started.
    """
    # A version manager chooses by the working directory.
    output = process.output([path, "-c", PROBE], env=os.environ, cwd=Path.cwd())
    return process.last_line(output) or None


def _torch_of_named(path: str) -> str | None:
    """As `torch_of`; says so if what the user named is no Python.

    Such a program would repeat all of PROBE in its complaint.
    """
    try:
        return torch_of(path)
    except ProcessError as error:
        if shutil.which(path) is None or _is_python(path):
            raise
        raise UsageError(
            f"{path}: not a usable Python; name an interpreter that has torch, --python"
        ) from error


def _is_python(path: str) -> bool:
    try:
        output = process.output([path, "-c", "print(6 * 7)"], env=os.environ, cwd=Path.cwd())
    except ProcessError:
        return False
    return process.last_line(output) == "42"


def _checked(path: str, version: str | None) -> WatchedInterpreter:
    if version is None:
        raise UsageError(
            f"{path}: torch is not installed for it; name another interpreter by --python"
        )
    # Of what was built before a release, too.
    if Version(version).release < OLDEST:
        raise UsageError(f"{path}: its torch is {version}; trainbugs watch needs 2.0 or newer")
    return WatchedInterpreter(path, version)
