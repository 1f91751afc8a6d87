"""Python imports this at its start: it keeps a detector's processes from looking at what tells buggy from fixed.

A path of TRAINBUGS_GUARDED that is opened, listed or handed to a program is refused, and noted in the file
TRAINBUGS_PEEKED, which the benchmark has made. A process that cannot note it ends. This is there where the kernel
cannot keep a detector from a path. It finds a mistake or a shortcut, not an enemy: what programs do that are not
Python's is not seen.
"""

import os
import sys

EVENTS = frozenset(
    {"open", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec", "os.posix_spawn"}
)
# Neither made anew, nor waited for, nor followed elsewhere.
FLAGS = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
CANNOT_NOTE = 70


def paths(event, arguments):
    if event in ("open", "os.listdir", "os.scandir"):
        return [arguments[0]]
    words = arguments[1] if len(arguments) > 1 else []
    return list(words) if isinstance(words, (list, tuple)) else [words]


def hook_for(guarded, note, looked_at=paths, events=EVENTS, os=os):
    """An audit hook. It knows all that it needs by itself: no name of this module changes what it does later."""
    real_path, decode, flags = os.path.realpath, os.fsdecode, FLAGS
    begin, write, close, leave = os.open, os.write, os.close, os._exit

    def noted(path):
        try:
            file = begin(note, flags)
            write(file, f"{path}\n".encode("utf-8", "replace"))
            close(file)
        except OSError:
            leave(CANNOT_NOTE)

    def hook(event, arguments):
        if event not in events:
            return
        for path in looked_at(event, arguments):
            if not isinstance(path, (str, bytes, os.PathLike)):
                continue
            path = decode(path)
            real = real_path(path)
            if any(real == folder or real.startswith(folder + "/") for folder in guarded):
                noted(path)
                raise PermissionError(f"a detector must not look at {path}")

    return hook


GUARDED = tuple(path for path in os.environ.get("TRAINBUGS_GUARDED", "").split(os.pathsep) if path)
if GUARDED:
    sys.addaudithook(hook_for(GUARDED, os.environ["TRAINBUGS_PEEKED"]))
