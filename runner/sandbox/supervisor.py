"""How is a program kept from harming the machine? Its watcher: starts it, watches over it, and ends as it ends.

    python -I -S supervisor.py NAME=VALUE ... -- PROGRAM [ARGUMENT ...]

process.py starts this file in the program's place, in a session of its own. The program becomes its child; whatever the
program starts stays below the watcher, even what leaves the session or outlives its parent. Nothing of it survives:

- the program's end. The watcher then kills what is left and ends with the same exit status, or by the same signal;
- the runner's wish: SIGTERM from the runner;
- the runner's own end, however sudden: the kernel then sends SIGTERM;
- the watcher's own sudden end: the kernel then kills the program, and the runner the process group.

NAMEs: `runner` (its process number) and `report` (a file descriptor, to which is written what the runner must know) are
needed; `network=no`, `memory_mb`, `output_mb` and `file_mb` are limits; `folder` is the program's own, with a folder
`home` in it: made here, and removed here in the end, for a runner that was killed would leave it behind.

It imports nothing of this project and little else: pathlib, argparse or json would double the time that it takes.
"""

import ctypes
import os
import resource
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
EVERY_S = 0.5
# So many times as long as a look at the memory takes, it is at least until the next one.
IDLE = 20
# What cannot be killed by then sits in the kernel: it is left behind.
PATIENCE_S = 5.0
MB = 1_000_000
HEARD = (signal.SIGTERM, signal.SIGCHLD)
STREAMS = {1: "standard output", 2: "standard error"}
LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Start the program, watch over it, end as it ends."""
    split = sys.argv.index("--")
    given = dict(word.split("=", 1) for word in sys.argv[1:split])
    runner, report, folder = int(given["runner"]), int(given["report"]), given.get("folder")
    os.set_inheritable(report, False)
    # Before anything is started: held signals wait, so that none comes unheard.
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if given.get("network") == "no":
        # Isolated Python does not find what lies beside this file.
        import runpy

        runpy.run_path(os.path.join(os.path.dirname(__file__), "netns.py"))["cut"](report)  # noqa: PTH118, PTH120
    # Not earlier: the kernel may forget it where namespaces are entered.
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGTERM)
    _call("prctl", PR_SET_CHILD_SUBREAPER, 1)
    memory, output, file = (int(float(given.get(name, 0)) * MB) for name in ("memory_mb", "output_mb", "file_mb"))
    watcher, status, excess = os.getpid(), int(signal.SIGKILL), None
    if os.getppid() == runner:  # else it ended before the kernel was asked to tell
        _make(folder, report)
        program = os.fork()
        if program == 0:
            _become(sys.argv[split + 1 :], watcher, report, file)
        status, excess = _watch(program, runner, memory, output)
    if excess:
        os.write(report, f"exceeded\n{excess}".encode())
        for stream in STREAMS:
            if output and os.fstat(stream).st_size > output:
                os.ftruncate(stream, output)
    _remove(folder)
    _end_as(status)


def _become(argv: list[str], watcher: int, report: int, file_limit: int) -> None:
    """Be the program, as if the runner had started it; returns never."""
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != watcher:
        os._exit(1)
    if file_limit:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        limit = file_limit if hard == resource.RLIM_INFINITY else min(hard, file_limit)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a program inherits that
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(report, f"failed\n{argv[0]}: cannot be started: {error.strerror}".encode())
    os._exit(127)


def _watch(program: int, runner: int, memory: int, output: int) -> tuple[int, str | None]:
    """Wait for the program's end or bring it about; its status as wait() gives it, and which limit it exceeded."""
    look = time.monotonic() + EVERY_S
    while True:
        heard = signal.sigtimedwait(HEARD, max(0.0, look - time.monotonic()))
        status = _reaped(program)
        if status is not None:
            # It may have written gigabytes since the last look.
            return _kill_all(program, status), _excess_of_output(output)
        # A script that signals its whole group means itself, not us.
        if heard and heard.si_signo == signal.SIGTERM and (heard.si_pid == runner or os.getppid() != runner):
            return _kill_all(program, None), None
        start = time.monotonic()
        if start >= look:
            excess = _excess_of_output(output) or _excess_of_memory(program, memory)
            if excess:
                return _kill_all(program, None), excess
            look = time.monotonic() + max(EVERY_S, IDLE * (time.monotonic() - start))


def _reaped(program: int) -> int | None:
    """Reap every child that has ended; the program's status if it is among them."""
    status = None
    while True:
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == program:
            status = found


def _kill_all(program: int, status: int | None) -> int:
    """Kill whatever is below us; returns the program's status. Orphans become our children, until there are none."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        # Only children: the number of one that has ended is not given away before we reap it.
        for child in {*_children(os.getpid())} | ({program} if status is None else set()):
            os.kill(child, signal.SIGKILL)
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == program:
            status = found
        elif pid == 0:
            time.sleep(0.002)
    return signal.SIGKILL if status is None else status


def _make(folder: str | None, report: int) -> None:
    """Make the program's folder and its home; reports and ends where that cannot be done."""
    if folder is None:
        return
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
        os.mkdir(folder + "/home")  # noqa: PTH102
    except OSError as error:
        os.write(report, f"failed\n{folder}: cannot be made: {error.strerror}".encode())
        os._exit(1)


def _remove(folder: str | None) -> None:
    """Remove the program's folder, whose home is mostly all that there is in it: shutil takes a while to import."""
    if folder is None:
        return
    try:
        os.rmdir(folder + "/home")  # noqa: PTH106
        os.rmdir(folder)  # noqa: PTH106
    except OSError:
        import contextlib
        import shutil

        with contextlib.suppress(RecursionError):  # a tree of a thousand levels stays: the program did not fail by that
            shutil.rmtree(folder, ignore_errors=True)


def _excess_of_output(output: int) -> str | None:
    """In words, which stream has become too long; None where none has."""
    for stream, name in STREAMS.items():
        if output and os.fstat(stream).st_size > output:
            return f"wrote more than {output / MB:g} MB to its {name}"
    return None


def _excess_of_memory(program: int, memory: int) -> str | None:
    """In words, that the program and all that it has started use too much memory; None where they do not."""
    # RLIMIT_AS would be simpler, but CUDA reserves address space by the terabyte. Resident pages are quickly counted,
    # shared ones again for each process; what the processes really hold together is asked for only in doubt.
    pages = [_read(f"/proc/{pid}/statm").split()[1:2] for pid in _family(program)] if memory else []
    resident = sum(int(number) for numbers in pages for number in numbers) * resource.getpagesize()
    if resident > memory and sum(_held(pid) for pid in _family(program)) > memory:
        return f"used more than {memory / 1e9:.3g} GB of memory"
    return None


def _family(program: int) -> set[int]:
    """The program and all that is below us."""
    left = [program, *_children(os.getpid())]
    found: set[int] = set()
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    """The children of a process, those of all its threads; none of one that has ended meanwhile."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(f"/proc/{pid}/task/{thread}/children").split()]


def _held(pid: int) -> int:
    """Bytes that are there for that process alone, and its share of others; without files, whose pages can be dropped.

    Swapped pages count as if they were in memory.
    """
    lines = [line.split() for line in _read(f"/proc/{pid}/smaps_rollup").splitlines()[1:]]
    sizes = {line[0]: int(line[1]) * 1024 for line in lines}
    if "Pss_Anon:" not in sizes:  # Linux before 5.4 does not tell files apart
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
    """A function of the C library; raises OSError."""
    if getattr(LIBC, name)(*(ctypes.c_ulong(argument) for argument in arguments)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
