"""The isolation of programs on this machine: what keeps them to their paths."""

import os
from functools import cache
from pathlib import Path
from typing import get_args

from runner.errors import ProcessError, UsageError
from runner.sandbox import landlock, process
from runner.sandbox.access import Isolation, closed_access, own_interpreter
from runner.sandbox.limits import Limits

# With earlier versions of Landlock a program can empty any file, and rename none into another of
# its folders.
WHOLE_LANDLOCK = 3
# A user's choice of something weaker, where the strongest breaks a program.
VARIABLE = "TRAINBUGS_ISOLATION"
# Kinds of isolation, from the strongest to the weakest.
KINDS: tuple[Isolation, ...] = get_args(Isolation)
# What the kinds without namespaces leave open, for the user.
WEAKER = {
    "landlock": (
        "weaker isolation: Landlock without user namespaces; programs may see your other "
        "processes and the names, sizes and times of files, and change modes of files that are "
        "yours"
    ),
    "none": "not isolated, by Landlock or by user namespaces: programs may do whatever you may",
}  # fmt: skip


@cache
def isolation() -> Isolation:
    """How programs are kept to their paths: by the strongest kind that works here.

    TRAINBUGS_ISOLATION names another one. Raises UsageError where it is unknown, or does not work.
    """
    setting = os.environ.get(VARIABLE)
    if setting:
        return _from_setting(setting)
    version = landlock.version()
    if namespaces_work():
        return "namespaces+landlock" if version >= WHOLE_LANDLOCK else "namespaces"
    return "landlock" if version else "none"


def weakness(kind: Isolation) -> str | None:
    """A line that says what a kind of isolation leaves open; None for the strong ones."""
    return WEAKER.get(kind)


@cache
def namespaces_work() -> bool:
    """Whether a program can be started in namespaces of its own; tried once for each process."""
    nowhere, nothing = Path(os.devnull), ["/bin/sh", "-c", ":"]
    limits = Limits(access=closed_access([], own_interpreter(), "namespaces"), temporary=False)
    try:
        done = process.run(
            nothing,
            cwd=Path("/"),
            env={},
            stdout=nowhere,
            stderr=nowhere,
            timeout_s=30,
            limits=limits,
        )
    except ProcessError:
        return False
    return done.returncode == 0


def _from_setting(setting: str) -> Isolation:
    for kind in KINDS:
        if kind == setting:
            break
    else:
        raise UsageError(f"{VARIABLE}={setting!r}: expected {', '.join(KINDS)}, or nothing")
    is_missing = "landlock" in kind and not landlock.version()
    if is_missing or ("namespaces" in kind and not namespaces_work()):
        raise UsageError(
            f"{VARIABLE}={kind}: this machine does not give it; leave the variable out"
        )
    return kind
