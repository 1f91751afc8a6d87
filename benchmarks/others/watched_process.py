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
        subprocess.run([python, *step], cwd=working, env=environ, check=True, timeout=TIMEOUT_S)
    process = subprocess.Popen(
        [*map(str, command), name, *program["arguments"]],
        cwd=working, env=environ, text=True, errors="replace", start_new_session=True,
        stdin=_terminal() if program.get("terminal") else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        # A shell's background job would ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    return _end(process, program.get("interrupt_s"))


def _terminal():
    """The end of a made terminal of 24 lines: some programs ask for its width."""
    end = pty.openpty()[1]
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return end


def _end(process, interrupt_s):
    """Wait for the process, with Ctrl-C after so many seconds."""
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
    timeout = interrupt_s or TIMEOUT_S
    while True:
        try:
            output = process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            number = signals.pop(0)
            # `trainbugs watch` hands Ctrl-C on.
            kill = os.kill if number == signal.SIGINT else os.killpg
            kill(process.pid, number)
            timeout = GRACE_S
        else:
            return Ended(output, timed_out=len(signals) < (2 if interrupt_s else 3))
