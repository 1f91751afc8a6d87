"""Processes of one fault: those whose command line,
environment variables or working directory name its folder.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Longer than supervisor.py and the runner may take to end a program.
PATIENCE_S = 12.0


@dataclass(frozen=True)
class Process:
    """One process: `words` is its command line."""

    pid: int
    parent: int
    words: str


def find(folder):
    """The processes that name this folder, other than this one."""
    own_ids = {os.getpid(), os.getppid()}
    processes = (
        _look(int(path.name), folder)
        for path in Path("/proc").glob("[0-9]*")
        if int(path.name) not in own_ids
    )
    return [process for process in processes if process]


def by_role(folder, runner):
    """The process IDs of watchers, scripts, and children of scripts, by role;
    `runner` is that of the command.
    """
    processes = find(folder)
    # In namespaces two more processes stand between a watcher and its script; their command line is
    # the watcher's.
    watching = {p.pid for p in processes if "supervisor.py" in p.words}
    watchers = {p.pid for p in processes if p.parent == runner and p.pid in watching}
    below = [p for p in processes if p.pid not in watching]
    scripts = {p.pid for p in below if p.parent in watching and ".py config.json" in p.words}
    children = {
        p.pid
        for p in below
        if p.parent in scripts or (p.parent in watching and p.words == "sleep 60")
    }
    return {"watcher": sorted(watchers), "script": sorted(scripts), "child": sorted(children)}


def wait_for_the_end(folder, spared=()):
    """Those that are still alive when they should have ended;
    they are killed. `spared` are process IDs of others.
    """
    until = time.monotonic() + PATIENCE_S
    while left := [process for process in find(folder) if process.pid not in spared]:
        if time.monotonic() > until:
            for process in left:
                send(process.pid, signal.SIGKILL)
            return left
        time.sleep(0.05)
    return []


def send(pid, number):
    """Send a signal, if there is still such a process."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _look(pid, folder):
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:2]
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        texts = [
            words,
            Path(f"/proc/{pid}/environ").read_bytes(),
            os.fsencode(Path(f"/proc/{pid}/cwd").readlink()),
        ]
    except OSError:
        return None
    if state in "ZX" or not any(str(folder).encode() in text for text in texts):
        return None
    return Process(pid, int(parent), words.replace(b"\0", b" ").decode(errors="replace").strip())
