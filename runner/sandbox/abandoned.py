"""Processes that a supervisor has left behind: it was killed, and they had left its process
group.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Some may be starting others.
PATIENCE_S = 5.0


def kill(folder: str) -> None:
    """Kill the processes that began with `folder` as their TMPDIR, and what they start meanwhile.

    The folder has a random name, so that no others are hit. One that was given other environment
    variables is missed.
    """
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        processes = list(_open_processes(folder))
        if not processes:
            return
        for process in processes:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
            os.close(process)
        time.sleep(0.002)


def _open_processes(folder: str) -> Iterator[int]:
    """File descriptors of these processes: a process ID could be that of another one by the time it
    is used.
    """
    word = f"TMPDIR={folder}".encode()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            process = os.pidfd_open(int(path.name))
        except OSError:
            continue
        try:
            ours = word in (path / "environ").read_bytes().split(b"\0")
        except OSError:  # of another user, or it has ended
            ours = False
        if ours:
            yield process
        else:
            os.close(process)
