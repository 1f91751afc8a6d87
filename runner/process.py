"""How is a program run? The only module that starts processes; it owns the process group and its end."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ProcessError

POLL_S = 0.02
# What a bug's script sees of the user's environment. Everything else is left out, so that it cannot change a result.
INHERITED = (
    "PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
    "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
)  # fmt: skip
FIXED = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}
# Settings of uv and Python that would make an environment something else than its lock says.
NOT_FOR_BUILDS = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "UV_TORCH_BACKEND", "UV_PYTHON")


@dataclass(frozen=True)
class Finished:
    """How a process ended. `returncode` is negative for a signal; times in seconds, memory in MB (10^6 bytes).

    Linux counts what a child held before its program was loaded: the peak is never below ours, some 40 MB.
    """

    returncode: int
    timed_out: bool
    wall_s: float
    peak_memory_mb: float


def clean_environment(threads: int, extra: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for a bug's script: an allow-list, fixed settings, and `threads` CPU threads."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    pinned = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    return inherited | FIXED | pinned | dict(extra)


def build_environment() -> dict[str, str]:
    """Environment variables for a build: the user's own (proxies, certificates, package index) less what misleads."""
    return {name: value for name, value in os.environ.items() if name not in NOT_FOR_BUILDS}


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout: Path,
    stderr: Path,
    timeout_s: float,
    on_wait: Callable[[float], None] = lambda elapsed_s: None,
) -> Finished:
    """Run a program in a process group of its own until it ends or `timeout_s` have passed.

    Nothing of the group outlives this call, whether the program ended, was too slow, or the caller was interrupted.
    `on_wait` is called with the seconds elapsed, many times a second. Raises ProcessError where it cannot be started.
    """
    start = time.monotonic()
    child: subprocess.Popen[bytes] | None = None
    timed_out = False
    try:
        with _signals_held():
            child = _start(argv, cwd, env, stdout, stderr)
        while not _has_ended(child.pid):
            elapsed = time.monotonic() - start
            if elapsed > timeout_s:
                timed_out = True
                break
            on_wait(elapsed)
            time.sleep(POLL_S)
    finally:
        wall = time.monotonic() - start
        if child is not None:
            _kill_group(child.pid)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
    return Finished(child.returncode, timed_out, wall, usage.ru_maxrss * 1024 / 1e6)


def output(argv: Sequence[str], *, env: Mapping[str, str], timeout_s: float = 120) -> str:
    """The standard output of a short command; raises ProcessError with the last line of its standard error."""
    try:
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=timeout_s, check=False, cwd="/")
    except OSError as error:
        raise ProcessError(f"{argv[0]}: cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ProcessError(f"{argv[0]}: no answer within {timeout_s:.0f} s") from error
    if done.returncode:
        raise ProcessError(f"{argv[0]}: {error_line(done.stderr) or f'exit status {done.returncode}'}")
    return done.stdout


def git_revision(directory: Path) -> str | None:
    """The commit of a bug's `directory`, with `-dirty` where what is run differs from it; None outside of git."""
    git = shutil.which("git")
    if git is None:
        return None
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    try:
        revision = output([git, "-C", str(directory), "rev-parse", "HEAD"], env=env).strip()
        what = [".", ":!expected", ":!README.md"]
        changed = output([git, "-C", str(directory), "status", "--porcelain", "--", *what], env=env).strip()
    except ProcessError:
        return None
    return revision + ("-dirty" if changed else "")


def error_line(text: str) -> str:
    """What a program's standard error says went wrong: the exception of its last traceback, else its last line.

    Some exceptions add advice below their message, or begin with a line that only announces the next one.
    """
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("Traceback (most recent call last):")]
    rest = lines[starts[-1] + 1 :] if starts else []
    message = [line.strip() for line in rest if line.strip() and not line.startswith(" ")]
    if not message:
        return last_line(text)
    return f"{message[0]} {message[1]}" if message[0].endswith(":") and message[1:] else message[0]


def last_line(text: str) -> str:
    """The last line of `text` that is not blank, without surrounding blanks; empty where there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _start(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdout: Path, stderr: Path
) -> "subprocess.Popen[bytes]":
    with stdout.open("wb") as out, stderr.open("wb") as err:
        try:
            return subprocess.Popen(
                argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        except OSError as error:
            raise ProcessError(f"{argv[0]}: cannot be started: {error.strerror}") from error


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let no signal come between the birth of a child and our knowing its number: it would outlive us.

    Signals that came meanwhile are raised again at the end. Blocking them would not do: a child inherits that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    held = {number: handler for number, handler in before.items() if callable(handler)}
    for number in held:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for received in came:
            signal.raise_signal(received)


def _has_ended(pid: int) -> bool:
    # WNOWAIT leaves the process a zombie: its group keeps its number until the group has been killed.
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
