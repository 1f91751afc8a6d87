"""Processes: the only module that starts programs, and ends whatever they have started."""

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from runner.errors import ProcessError, UsageError
from runner.files.untrusted import printable
from runner.sandbox import abandoned
from runner.sandbox.limits import Limits, command, own_folder
from runner.sandbox.streams import end_of

POLL_S = 0.02
GRACE_S = 7.0  # a little more than supervisor.py may take to end a program
MAX_MESSAGE_BYTES = 1_000_000
# How an exception is called that says that another program has failed.
OTHER_PROGRAM_FAILED = "subprocess.CalledProcessError: "
# Errors whose message says what is wrong, and not where: a traceback says that above it.
MISTAKES_IN_WRITING = ("SyntaxError: ", "IndentationError: ", "TabError: ")
WRITTEN_IN = re.compile(r'^ *File "(.+)", line (\d+)$', re.MULTILINE)
# Signals by which a user, a batch system or another program speaks to one that trains.
FORWARDED = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
)  # fmt: skip
# A new file of that name, or one that is open.
Stream = Path | BinaryIO


@dataclass(frozen=True)
class Finished:
    """How a process ended. `returncode` is negative for a signal; times in seconds, memory in MB
    (10^6 bytes).

    Linux counts what a child held before its program was loaded; that is the supervisor's memory,
    about 10 MB, and the runner's only where the supervisor was killed. `exceeded` says, in words,
    for which limit the program was killed.
    """

    returncode: int
    timed_out: bool
    wall_s: float
    peak_memory_mb: float
    exceeded: str | None = None


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout: Stream,
    stderr: Stream,
    timeout_s: float,
    on_wait: Callable[[float], None] = lambda elapsed_s: None,
    limits: Limits | None = None,
) -> Finished:
    """Run a program until it ends, `timeout_s` have passed, or it exceeds `limits`.

    Nothing that it has started outlives this call, whether the program ended, timed out, or the
    caller was interrupted; nor does anything outlive this process if that is killed: supervisor.py
    ensures it. The kernel tells the supervisor when the thread that started it ends, so this call
    waits in the thread that starts the program.

    With `limits` the program has its own HOME and TMPDIR, which are removed afterwards. `on_wait`
    is called with the seconds elapsed, many times a second. Raises ProcessError where the program
    cannot be started, UsageError where the network cannot be cut.
    """
    start = time.monotonic()
    child: subprocess.Popen[bytes] | None = None
    in_time = True
    with (
        own_folder(env, limits) as (folder, env),
        open(os.memfd_create("report"), "rb") as report,  # noqa: PTH123
    ):
        whole = [*command(limits, folder, report.fileno()), *argv]
        try:
            with _signals_held():
                child = _start(whole, cwd, env, stdout, stderr, report.fileno())
            in_time = _ends_in_time(child.pid, start, timeout_s, on_wait)
        finally:
            wall = time.monotonic() - start
            if child is not None:
                _end(child.pid)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                if folder and child.returncode < 0:
                    # The supervisor itself may have been killed, and not the program alone.
                    abandoned.kill(folder.name)
        peak, exceeded = _reported(report, usage.ru_maxrss)
    return Finished(child.returncode, not in_time, wall, peak * 1024 / 1e6, exceeded)


@cache
def network_can_be_cut() -> str | None:
    """Why programs cannot run without network on this machine; None where they can."""
    nowhere, nothing = Path(os.devnull), [sys.executable, "-I", "-S", "-c", ""]
    try:
        limits = Limits(network=False, temporary=False)
        run(
            nothing,
            cwd=Path("/"),
            env={},
            stdout=nowhere,
            stderr=nowhere,
            timeout_s=30,
            limits=limits,
        )
    except (ProcessError, UsageError) as error:
        return str(error)
    return None


def foreground(argv: Sequence[str], *, env: Mapping[str, str]) -> int:
    """Run a program in the place of this one, with its streams, terminal and folder; returns its
    exit status.

    The status is negative for a signal. What this process receives of FORWARDED goes to the
    program; a terminal sends it there itself. Raises ProcessError where the program cannot be
    started.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*FORWARDED, signal.SIGCHLD})
    try:
        child = subprocess.Popen(
            argv, env=env, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before)
        )  # fmt: skip
        while child.poll() is None:
            came = signal.sigtimedwait({*FORWARDED, signal.SIGCHLD}, 0.5)
            # The codes of the kernel, a terminal's, are above 0; those of a process are not.
            if came and came.si_signo != signal.SIGCHLD and came.si_code <= 0:
                child.send_signal(came.si_signo)
        _drain()
    except OSError as error:
        raise ProcessError(f"{argv[0]}: cannot be started: {error.strerror}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return child.returncode


def _drain() -> None:
    """Take the signals that came to both at the end: they are the program's."""
    pending = True
    while pending:
        pending = signal.sigtimedwait(FORWARDED, 0) is not None


def output(
    argv: Sequence[str], *, env: Mapping[str, str], timeout_s: float = 120, cwd: Path = Path("/")
) -> str:
    """The standard output of a short command; raises ProcessError with the last line of its
    standard error.
    """
    try:
        done = subprocess.run(
            argv,
            env=env,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
            cwd=cwd,
        )
    except OSError as error:
        raise ProcessError(f"{argv[0]}: cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ProcessError(f"{argv[0]}: no answer within {timeout_s:.0f} s") from error
    if done.returncode:
        raise ProcessError(
            f"{argv[0]}: {error_line(done.stderr) or f'exit status {done.returncode}'}"
        )
    return done.stdout


def error_in(stderr: BinaryIO) -> str:
    """The error message at the end of what a program wrote to its standard error; empty where there
    is none.
    """
    return error_line(end_of(stderr, MAX_MESSAGE_BYTES).decode("utf-8", errors="replace"))


def error_line(text: str) -> str:
    """The error message in a program's standard error: the exception of its last traceback, else
    its last line.

    Some exceptions add advice below their message, or begin with a line that only announces the
    next one. That a program which it started has failed is told by that program's own traceback,
    which comes before. What would move the cursor of a terminal is shown escaped.
    """
    lines = text.splitlines()
    starts = [
        number
        for number, line in enumerate(lines)
        if line.startswith("Traceback (most recent call last):")
    ]
    messages = [_message(lines[start + 1 : end]) for start, end in pairwise([*starts, len(lines)])]
    while len(messages) > 1 and messages[-1].startswith(OTHER_PROGRAM_FAILED):
        messages.pop()
    message = (messages[-1] if messages else "") or last_line(text)
    return printable(message + _place_in(text, message))


def _place_in(text: str, message: str) -> str:
    """The file and line of a mistake in writing, which the message of such an error leaves out."""
    places = WRITTEN_IN.findall(text)
    if not places or not message.startswith(MISTAKES_IN_WRITING):
        return ""
    path, line = places[-1]
    return f" ({Path(path).name}, line {line})"


def _message(lines: Sequence[str]) -> str:
    """The exception of one traceback; empty where it has none."""
    message = [line.strip() for line in lines if line.strip() and not line.startswith(" ")]
    if not message:
        return ""
    return f"{message[0]} {message[1]}" if message[0].endswith(":") and message[1:] else message[0]


def last_line(text: str) -> str:
    """The last line of `text` that is not blank, without surrounding blanks; empty where there is
    none.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    stdout: Stream,
    stderr: Stream,
    report: int,
) -> "subprocess.Popen[bytes]":
    none = subprocess.DEVNULL
    with _opened(stdout) as out, _opened(stderr) as err:
        try:
            return subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=none,
                stdout=out,
                stderr=err,
                start_new_session=True,
                pass_fds=[report],
            )
        except OSError as error:
            raise ProcessError(f"{argv[0]}: cannot be started: {error.strerror}") from error


def _opened(stream: Stream) -> AbstractContextManager[BinaryIO]:
    return stream.open("wb") if isinstance(stream, Path) else nullcontext(stream)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Delay signals until the process ID of a new child is known; otherwise the child could outlive
    this process.

    Signals that came meanwhile are raised again at the end. Blocking them would not do: a child
    inherits the mask.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
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
    # WNOWAIT leaves the process a zombie: its group keeps its ID until the group has been killed.
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _ends_in_time(
    pid: int, start: float, timeout_s: float, on_wait: Callable[[float], None]
) -> bool:
    with _wakened_by(pid) as sleep:
        while not _has_ended(pid):
            elapsed = time.monotonic() - start
            if elapsed > timeout_s:
                return False
            on_wait(elapsed)
            sleep(POLL_S)
    return True


@contextmanager
def _wakened_by(pid: int) -> Iterator[Callable[[float], object]]:
    """A function that sleeps for so many seconds, and no longer than the process lives."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # no descriptor is left, or the kernel is older than Linux 5.3
        yield time.sleep
        return
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        yield lambda seconds: poll.poll(1000 * seconds)
    finally:
        os.close(descriptor)


def _reported(report: BinaryIO, peak: int) -> tuple[int, str | None]:
    """From supervisor.py's report: the peak memory in KiB (`peak` where it was killed), and the
    limit exceeded, if any.

    Raises ProcessError or UsageError where the program was not started.
    """
    report.seek(0)
    kind, _, text = report.read().decode().partition("\n")
    if kind == "failed":
        raise ProcessError(text)
    if kind == "network":
        raise UsageError(f"the network cannot be cut on this machine: {text}")
    number, _, excess = text.partition("\n")
    return int(number or peak), excess or None


def _end(pid: int) -> None:
    """End the supervisor, its program, and all that the program has started."""
    try:
        until = time.monotonic() + GRACE_S
        os.kill(pid, signal.SIGTERM)
        while not _has_ended(pid) and time.monotonic() < until:
            time.sleep(0.002)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
