"""The means by which programs are kept to their paths on this machine."""

import os
import sys
from functools import cache
from pathlib import Path

from runner.errors import ProcessError
from runner.sandbox import landlock, process
from runner.sandbox.access import closed_access, own_interpreter
from runner.sandbox.limits import Limits

# With earlier versions of Landlock a program can empty any file, and rename none into another folder of its own.
WHOLE = 3


@cache
def means() -> str | None:
    """How programs are kept to their paths: by landlock, else by namespaces; None where neither is possible."""
    version = landlock.version()
    if version < WHOLE and namespaces_work():
        return "namespaces"
    return "landlock" if version else None


def namespaces_work() -> bool:
    """Whether a program can be started in namespaces of its own; tried once for each process."""
    nowhere, nothing = Path(os.devnull), [sys.executable, "-I", "-S", "-c", ""]
    limits = Limits(access=closed_access([], own_interpreter(), "namespaces"))
    try:
        done = process.run(nothing, cwd=Path("/"), env={}, stdout=nowhere, stderr=nowhere, timeout_s=30, limits=limits)
    except ProcessError:
        return False
    return done.returncode == 0
