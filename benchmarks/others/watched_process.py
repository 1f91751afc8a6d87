"""Runs `trainbugs watch` on a program, and interrupts it where its time is over."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 600
# Seconds that an interrupted program has to end.
GRACE_S = 60
# Programs find no display, no network and no account.
SETTINGS = {
    "MPLBACKEND": "Agg",
    "SDL_VIDEODRIVER": "dummy",
    "WANDB_MODE": "disabled",
    "HF_HUB_OFFLINE": "1",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True)
class Ended:
    """How the run ended: its output, and whether its time was over."""

    output: str
    timed_out: bool


def watch(program, folder, python, packages, report):
    """Run the program of this checkout under the sanitizer, which writes the report."""
    script = folder / program["script"]
    if "entry" in program:
        _write_entry(script, *program["entry"].split(":"))
    working = folder / program["folder"] if "folder" in program else script.parent
    name = program["module"] if "module" in program else os.path.relpath(script, working)
    command = [sys.executable, "-m", "trainbugs", "watch", "--python", python, "--json", report]
    command += ["-m"] if "module" in program else []
    own = [folder / path for path in program.get("paths", ())]
    environ = {
        **os.environ,
        **SETTINGS,
        **program.get("environ", {}),
        "HOME": str(folder.parent),
        "PYTHONPATH": os.pathsep.join(map(str, [HERE / "stand_ins", *own, *packages])),
    }
    # What its authors run before: it prepares the data.
    for step in program.get("prepare", ()):
        prepared = subprocess.run(
            [python, *step], cwd=working, env=environ, timeout=TIMEOUT_S,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if prepared.returncode:
            return Ended(prepared.stdout, timed_out=False)
    keyboard, terminal = _terminal()
    process = subprocess.Popen(
        [*map(str, command), name, *program["arguments"]],
        cwd=working, env=environ, text=True, errors="replace", start_new_session=True,
        stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        preexec_fn=lambda: _take(terminal),
    )  # fmt: skip
    os.close(terminal)
    try:
        return _end(process, program.get("interrupt_s"), keyboard)
    finally:
        os.close(keyboard)


def _write_entry(script, module, function):
    """Write the script that an installation makes for an entry point."""
    script.write_text(f"from {module} import {function}\n\n{function}()\n")


def _terminal():
    """A made keyboard and its terminal of 24 lines."""
    keyboard, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return keyboard, terminal


def _take(terminal):
    """Make it the terminal of this process, whose Ctrl-C reaches it and its children."""
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    # A shell's background job would ignore it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end(process, interrupt_s, keyboard):
    """Wait for the process, with Ctrl-C after so many seconds."""
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
    timeout = interrupt_s or TIMEOUT_S
    while True:
        try:
            output = process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            number = signals.pop(0)
            if number == signal.SIGINT:
                os.write(keyboard, b"\x03")
            else:
                os.killpg(process.pid, number)
            timeout = GRACE_S
        else:
            return Ended(output, timed_out=len(signals) < (2 if interrupt_s else 3))
