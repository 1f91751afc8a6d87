"""Keeps a detector's processes from looking at what tells buggy from fixed; sitecustomize.py installs it.

A path of TRAINBUGS_GUARDED that is opened, listed or handed to a program is refused, and noted in the file
TRAINBUGS_PEEKED, which the benchmark has made. A process that cannot note it ends. The guard is there for machines
whose kernel cannot keep a detector from a path. It finds a mistake or a shortcut, not an enemy: it does not see what
programs do that are not Python's.
"""

import os
import sys

EVENTS = frozenset(
    {"open", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec", "os.posix_spawn"}
)
# The note is neither made anew, nor waited for, nor followed elsewhere.
FLAGS = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
CANNOT_NOTE = 70


def paths(event, arguments):
    """What an event looks at: a path, or the words of a command."""
    if event in ("open", "os.listdir", "os.scandir"):
        return [arguments[0]]
    words = arguments[1] if len(arguments) > 1 else []
    return list(words) if isinstance(words, (list, tuple)) else [words]


def hook_for(guarded, note, list_paths=paths, events=EVENTS, os=os):
    """An audit hook. It holds all that it needs itself: no name of this module changes what it does later."""
    real_path, decode, flags = os.path.realpath, os.fsdecode, FLAGS
    begin, write, close, leave = os.open, os.write, os.close, os._exit

    def write_note(path):
        try:
            file = begin(note, flags)
            write(file, f"{path}\n".encode("utf-8", "replace"))
            close(file)
        except OSError:
            leave(CANNOT_NOTE)

    def hook(event, arguments):
        if event not in events:
            return
        for path in list_paths(event, arguments):
            if not isinstance(path, (str, bytes, os.PathLike)):
                continue
            path = decode(path)
            real = real_path(path)
            if any(real == folder or real.startswith(folder + "/") for folder in guarded):
                write_note(path)
                raise PermissionError(f"a detector must not look at {path}")

    return hook


def install():
    """Guard the folders of TRAINBUGS_GUARDED from now on, if there are any."""
    folders = os.environ.get("TRAINBUGS_GUARDED", "").split(os.pathsep)
    guarded = tuple(folder for folder in folders if folder)
    if guarded:
        sys.addaudithook(hook_for(guarded, os.environ["TRAINBUGS_PEEKED"]))
