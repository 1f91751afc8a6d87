"""Small programs, and what becomes of them."""

import sys
import time
from pathlib import Path

from runner.sandbox import env, process


def run(tmp_path, code, **changes):
    arguments = {
        "cwd": tmp_path,
        "env": env.clean_environment(2, {}),
        "stdout": tmp_path / "stdout",
        "stderr": tmp_path / "stderr",
        "timeout_s": 20,
    } | changes
    return process.run([sys.executable, "-c", code], **arguments)


def is_alive(pid):
    try:
        state = _status(pid)[0]
    except OSError:
        return False
    return state != "Z"


def ancestors(pid):
    """The process that has started that one, the one that has started it, and so on,
    as long as they are alive.
    """
    pids = []
    while pid > 1:
        try:
            pid = int(_status(pid)[1])
        except OSError:
            break
        pids.append(pid)
    return pids


def _status(pid):
    """The fields of /proc/PID/stat after the name: the state, the parent, and so on."""
    text = Path(f"/proc/{pid}/stat").read_text()
    return text.rsplit(")", 1)[1].split()


def called(name):
    """The processes that run under that name, the first word of their command line."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == name.encode():
            pids.append(int(path.parent.name))
    return pids


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()
