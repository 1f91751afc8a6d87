"""Python imports this at its start: it keeps a detector's processes from looking at what tells buggy from fixed.

A path of TRAINBUGS_GUARDED that is opened, listed or handed to a program is refused, and noted in the file
TRAINBUGS_PEEKED. This finds a mistake or a shortcut, not an enemy: what programs do that are not
Python's is not seen.
"""

import os
import sys

GUARDED = tuple(path for path in os.environ.get("TRAINBUGS_GUARDED", "").split(os.pathsep) if path)
EVENTS = {"open", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec", "os.posix_spawn"}


def inside(path):
    real = os.path.realpath(path)
    return any(real == guarded or real.startswith(guarded + os.sep) for guarded in GUARDED)


def paths(event, arguments):
    if event in ("open", "os.listdir", "os.scandir"):
        return [arguments[0]]
    words = arguments[1] if len(arguments) > 1 else []
    return list(words) if isinstance(words, (list, tuple)) else [words]


def hook(event, arguments):
    if event not in EVENTS:
        return
    for path in paths(event, arguments):
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if isinstance(path, (str, os.PathLike)) and inside(path):
            note(path)
            raise PermissionError(f"a detector must not look at {os.fspath(path)}")


def note(path):
    # pathlib would be imported at the start of every process.
    with open(os.environ["TRAINBUGS_PEEKED"], "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write(f"{os.fspath(path)}\n")


if GUARDED:
    sys.addaudithook(hook)
