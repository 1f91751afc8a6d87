"""The supervisor of a program: a process that starts it, enforces its limits, and ends as it ends.

    python -I -S supervisor.py NAME=VALUE ... -- PROGRAM [ARGUMENT ...]

process.py starts this file instead of the program, in a new session. The program becomes its child;
whatever the program starts stays a descendant of the supervisor, even a process that leaves the
session or outlives its parent. All of these processes end with

- the program: the supervisor then kills what is left, and ends with the same exit status or by the
  same signal;
- a SIGTERM from the runner;
- the runner, however sudden its end: the kernel then sends SIGTERM;
- the supervisor, if its end is sudden: the kernel then kills the program, and the runner the
  process group, and what else has the program's temporary folder as its TMPDIR.

Where runner and supervisor are killed in the same moment, what the program has started goes on.

NAMEs: `runner` (its process ID) and `report` (a file descriptor, to which errors, or the peak
memory in KiB and an exceeded limit, are written) are required; `network=no`, `memory_mb`,
`output_mb` and `file_mb` are limits. `isolation` is what keeps the program to its paths:
namespaces+landlock, namespaces, landlock or none; with any of them it loses all privileges. `read`,
`write` and `hidden` are these paths, one a line (it may write in `folder` too). `folder` is a
temporary folder for the program, with a folder `home` in it: it is made and removed here, since a
runner that was killed would leave it behind. In namespaces, the program knows it by the name
`link`; `links` are more of them, each name followed by what it leads to.

This file imports nothing of the project and little else: pathlib, argparse or json would double the
time that it takes.
"""

import ctypes
import os
import resource
import signal
import sys
import time

TYPE_CHECKING = False  # typing would be slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# Between two checks of the limits; the first ones come sooner, since a program may be short.
EVERY_S, FIRST_S = 0.5, 0.01
# The pause between two checks of the memory is at least this many times as long as a check takes.
IDLE = 20
# Processes that cannot be killed within this time hang in the kernel; they are left behind.
PATIENCE_S = 5.0
MB = 1_000_000
HEARD = (signal.SIGTERM, signal.SIGCHLD)
STREAMS = {1: "standard output", 2: "standard error"}
LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Start the program, enforce its limits, and end as it ends."""
    split = sys.argv.index("--")
    arguments = dict(word.split("=", 1) for word in sys.argv[1:split])
    runner, report, folder = (
        int(arguments["runner"]),
        int(arguments["report"]),
        arguments.get("folder"),
    )
    os.set_inheritable(report, False)
    # Before anything is started: blocked signals stay pending, so that none is missed.
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if arguments.get("network") == "no":
        _load_sibling("netns").cut(report)
    # Not earlier: the kernel may clear it when a namespace is entered.
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGTERM)
    _call("prctl", PR_SET_CHILD_SUBREAPER, 1)
    memory, output, file = (
        int(float(arguments.get(name, 0)) * MB) for name in ("memory_mb", "output_mb", "file_mb")
    )
    watcher, status, excess = os.getpid(), int(signal.SIGKILL), None
    isolate = _isolation(arguments, report)
    if os.getppid() == runner:  # else the runner ended before prctl was called
        _make(folder, report)
        program = os.fork()
        if program == 0:
            _tie_to(watcher)
            isolate()
            _become(sys.argv[split + 1 :], report, file)
        status, excess = _watch(program, runner, memory, output)
    if not os.fstat(report).st_size:  # else the program was not started
        peak_memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        os.write(report, f"ended\n{peak_memory}\n{excess or ''}".encode())
    for stream in STREAMS if excess else ():
        if output and os.fstat(stream).st_size > output:
            os.ftruncate(stream, output)
    _remove(folder)
    _end_as(status)


def _load_sibling(name: str) -> "Any":
    """The module of a file beside this one, where isolated Python does not look; runpy would be
    slow to import.
    """
    sys.path.append(os.path.dirname(__file__))  # noqa: PTH120
    return __import__(name)


def _tie_to(watcher: int) -> None:
    """End with the supervisor."""
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != watcher:
        os._exit(1)


def _isolation(arguments: "dict[str, str]", report: int) -> "Callable[[], None]":
    """What isolates a process that calls it; where that fails, it reports it and exits with 1."""
    kind = arguments.get("isolation")
    if kind is None:
        return lambda: None
    # Loaded before the fork: the program would pay for it, and may not be able to read them.
    modules = {
        name: _load_sibling(name) for name in ("privileges", *kind.split("+")) if name != "none"
    }
    readable, write, hidden = (
        arguments.get(name, "").split("\n") for name in ("read", "write", "hidden")
    )
    folder, link = arguments.get("folder"), arguments.get("link")
    link_paths = arguments.get("links", "").split("\n")
    links = dict(zip(link_paths[::2], link_paths[1::2], strict=False)) | (
        {link: folder} if link and folder else {}
    )
    writable = [*write, *([folder] if folder else [])]
    # What lies in /dev/shm counts for no process: it has a limit of its own.
    shared = int(float(arguments.get("memory_mb", 0)) * MB)

    def isolate() -> None:
        try:
            if "namespaces" in modules:
                # They hold for a new process only: that one returns, and this one ends as it ends.
                status = modules["namespaces"].restrict(readable, writable, hidden, links, shared)
                if status is not None:
                    _end_as(status)
            _give_up_privileges(modules["privileges"], arguments)
            if "landlock" in modules:
                _keep_by_landlock(modules, readable, writable)
            if "namespaces" not in modules:
                modules["privileges"].spare_other_processes()
        except OSError as error:
            os.write(report, f"failed\nthe program cannot be isolated: {error.strerror}".encode())
            os._exit(1)

    return isolate


def _give_up_privileges(privileges: "Any", arguments: "dict[str, str]") -> None:
    privileges.drop_capabilities()
    if arguments.get("network") == "no":
        privileges.refuse_other_networks()


def _keep_by_landlock(modules: "dict[str, Any]", readable: list[str], writable: list[str]) -> None:
    """Keep this process to its paths; in namespaces, all that it sees is what it may read.

    It may name its threads, without which CUDA does not start; elsewhere than in namespaces the
    processes that it starts may not.
    """
    if "namespaces" in modules:
        spaces = modules["namespaces"]
        needed = [spaces.SHARED_MEMORY, spaces.TERMINALS, spaces.PROCESSES]
        readable = ["/"]
    else:
        needed = ["/proc/self/task"]
    modules["landlock"].restrict(readable, [*writable, *needed])


def _become(argv: list[str], report: int, file_limit: int) -> None:
    """Become the program, as if the runner had started it; never returns."""
    if file_limit:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        limit = file_limit if hard == resource.RLIM_INFINITY else min(hard, file_limit)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for number in (
        signal.SIGPIPE,
        signal.SIGXFSZ,
    ):  # Python ignores them, and a program would inherit that
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(report, f"failed\n{argv[0]}: cannot be started: {error.strerror}".encode())
    os._exit(127)


def _watch(program: int, runner: int, memory: int, output: int) -> tuple[int, str | None]:
    """Wait until the program ends, or end it; returns its status as wait() gives it, and the limit
    that it exceeded.
    """
    pause = FIRST_S
    look = time.monotonic() + pause
    while True:
        heard = signal.sigtimedwait(HEARD, max(0.0, look - time.monotonic()))
        status = _reaped(program)
        if status is not None:
            # It may have written gigabytes since the last check.
            return _kill_all(program, status), _excess_of_output(output)
        # A script that sends a signal to its whole process group means itself, not the supervisor.
        if (
            heard
            and heard.si_signo == signal.SIGTERM
            and (heard.si_pid == runner or os.getppid() != runner)
        ):
            return _kill_all(program, None), None
        start = time.monotonic()
        if start >= look:
            excess = _excess_of_output(output) or _excess_of_memory(program, memory)
            if excess:
                return _kill_all(program, None), excess
            pause = min(2 * pause, EVERY_S)
            look = time.monotonic() + max(pause, IDLE * (time.monotonic() - start))


def _reaped(program: int) -> int | None:
    """Reap every child that has ended; the program's status if it is among them."""
    status = None
    while True:
        try:
            pid, child_status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == program:
            status = child_status


def _kill_all(program: int, status: int | None) -> int:
    """Kill all descendants; returns the program's status.

    Orphans become children here, until none is left.
    """
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        # Only children: the process ID of one that has ended is not reused before it is reaped
        # here.
        for child in {*_children(os.getpid())} | ({program} if status is None else set()):
            os.kill(child, signal.SIGKILL)
        try:
            pid, child_status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == program:
            status = child_status
        elif pid == 0:
            time.sleep(0.002)
    return signal.SIGKILL if status is None else status


def _make(folder: str | None, report: int) -> None:
    """Make the program's folder and its home; where that fails, report it and exit with 1."""
    if folder is None:
        return
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
        os.mkdir(folder + "/home")  # noqa: PTH102
    except OSError as error:
        os.write(report, f"failed\n{folder}: cannot be made: {error.strerror}".encode())
        os._exit(1)


def _remove(folder: str | None) -> None:
    """Remove the program's folder.

    Mostly its home is empty; only for other files is shutil, slow to import, needed.
    """
    if folder is None:
        return
    try:
        os.rmdir(folder + "/home")  # noqa: PTH106
        os.rmdir(folder)  # noqa: PTH106
    except OSError:
        import contextlib
        import shutil

        # What stays (a tree deeper than the stack, a folder without permissions) is the runner's.
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)


def _excess_of_output(output: int) -> str | None:
    """A text that says which stream has become too long; None where none has."""
    for stream, name in STREAMS.items():
        if output and os.fstat(stream).st_size > output:
            return f"wrote more than {output / MB:g} MB to its {name}"
    return None


def _excess_of_memory(program: int, memory: int) -> str | None:
    """A text that says that the program and all that it has started use too much memory; None where
    they do not.
    """
    # RLIMIT_AS would be simpler, but CUDA reserves terabytes of address space. Counting resident
    # pages is fast, but counts shared ones once for each process; the slower exact sum is needed
    # only where that count is too large.
    pages = [_read(f"/proc/{pid}/statm").split()[1:2] for pid in _family(program)] if memory else []
    resident = sum(int(number) for numbers in pages for number in numbers) * resource.getpagesize()
    if resident > memory and sum(_held(pid) for pid in _family(program)) > memory:
        return f"used more than {memory / 1e9:.3g} GB of memory"
    return None


def _family(program: int) -> set[int]:
    """The process IDs of the program and of all descendants."""
    waiting = [program, *_children(os.getpid())]
    family: set[int] = set()
    while waiting:
        pid = waiting.pop()
        if pid not in family:
            family.add(pid)
            waiting += _children(pid)
    return family


def _children(pid: int) -> list[int]:
    """The children of all threads of a process; none where it has ended meanwhile."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []
    return [
        int(child)
        for thread in threads
        for child in _read(f"/proc/{pid}/task/{thread}/children").split()
    ]


def _held(pid: int) -> int:
    """Bytes that a process holds alone, and its share of shared ones; without pages of files, which
    can be dropped.

    Swapped pages count as if they were in memory.
    """
    lines = [line.split() for line in _read(f"/proc/{pid}/smaps_rollup").splitlines()[1:]]
    sizes = {line[0]: int(line[1]) * 1024 for line in lines}
    if (
        not sizes
    ):  # a process that may not be looked at: all of its pages, but for files and shared ones
        numbers = [int(number) for number in _read(f"/proc/{pid}/statm").split()[1:3]]
        return (numbers[0] - numbers[1]) * resource.getpagesize() if numbers else 0
    if "Pss_Anon:" not in sizes:  # Linux before 5.4 does not separate files
        return sizes.get("Pss:", 0)
    return sum(sizes.get(name, 0) for name in ("Pss_Anon:", "Pss_Shmem:", "SwapPss:"))


def _read(path: str) -> str:
    try:
        with open(path) as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def _end_as(status: int) -> None:
    """End as the program did."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _call(name: str, *arguments: int) -> None:
    """Call a function of the C library; raises OSError."""
    if getattr(LIBC, name)(*(ctypes.c_ulong(argument) for argument in arguments)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
