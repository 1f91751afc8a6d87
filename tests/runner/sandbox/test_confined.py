"""The end of a program that is kept to its paths: it ends as any other, and nothing that it has
started is left.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from support.processes import run, wait_until

from runner.sandbox.access import closed_access, open_access, own_interpreter, reading_access
from runner.sandbox.limits import Limits

# Starts a process in a session of its own, which hears no signal.
RELATIVES = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
os.wait()
print("ready", flush=True)
"""
RUNNER = """
import sys
from pathlib import Path
from runner.sandbox import process
from runner.sandbox.access import open_access, own_interpreter
from runner.sandbox.limits import Limits
here, code, isolation = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
process.run([sys.executable, "-c", code], cwd=here, env={}, stdout=here / "stdout", stderr=here / "stderr",
            timeout_s=60, limits=Limits(access=open_access([here], own_interpreter(), isolation)))
"""


def alive(tmp_path):
    """The processes whose command line names this test's folder, but this one."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(tmp_path).encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                processes.append(int(path.parent.name))
        except OSError:
            continue
    return processes


def confined(tmp_path, kept_by, code, access=open_access, memory_mb=None, **options):
    limits = Limits(memory_mb=memory_mb, access=access([tmp_path], own_interpreter(), kept_by))
    return run(tmp_path, f"# {tmp_path}\n{code}", limits=limits, **options)


@pytest.mark.parametrize("access", [open_access, closed_access])
@pytest.mark.parametrize(
    "code, status",
    [
        ("import sys; sys.exit(3)", 3),
        ("import os; os.abort()", -signal.SIGABRT),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    ],
)
def test_program_ends_as_any_other(tmp_path, kept_by, access, code, status):
    assert confined(tmp_path, kept_by, code, access).returncode == status, (
        tmp_path / "stderr"
    ).read_text()


@pytest.mark.parametrize("ending, timed_out", [("os._exit(0)", False), ("time.sleep(60)", True)])
def test_nothing_outlives_a_program_that_ended_or_was_too_slow(
    tmp_path, kept_by, ending, timed_out
):
    done = confined(tmp_path, kept_by, RELATIVES + ending, timeout_s=2 if timed_out else 20)
    assert (done.timed_out, done.wall_s < 5, (tmp_path / "stdout").read_text()) == (
        timed_out,
        True,
        "ready\n",
    )
    assert alive(tmp_path) == []


def test_too_much_memory_of_a_relative(tmp_path, kept_by):
    hog = (
        RELATIVES
        + "if os.fork() == 0:\n    x = bytearray(400_000_000)\n    time.sleep(60)\nos.wait()"
    )
    assert "memory" in confined(tmp_path, kept_by, hog, memory_mb=200).exceeded
    assert alive(tmp_path) == []


def test_too_much_memory_of_one_that_may_not_be_looked_at(tmp_path, kept_by):
    """A process can forbid that others look at its memory in detail."""
    act = "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)"
    hidden = f"import ctypes, time\n{act}\nx = bytearray(400_000_000)\ntime.sleep(60)"
    assert "memory" in confined(tmp_path, kept_by, hidden, memory_mb=200).exceeded


@pytest.mark.parametrize("killed", ["runner", "supervisor"])
def test_nothing_outlives_who_is_killed(tmp_path, kept_by, killed):
    code = f"# {tmp_path}\n{RELATIVES}time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER, tmp_path, code, kept_by], cwd=ROOT
    ) as started:
        assert wait_until(
            lambda: (
                (tmp_path / "stdout").exists() and (tmp_path / "stdout").read_text() == "ready\n"
            ),
            30,
        )
        supervisor = int(Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text())
        survivors = [
            pid for pid in alive(tmp_path) if os.getsid(pid) == supervisor and pid != supervisor
        ]
        os.kill(started.pid if killed == "runner" else supervisor, signal.SIGKILL)
        try:
            assert wait_until(lambda: not {*survivors} & {*alive(tmp_path)})
            if "namespaces" in kept_by:  # even what has left the session
                assert wait_until(lambda: {*alive(tmp_path)} <= {started.pid, supervisor})
        finally:
            for pid in alive(tmp_path):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("name", ["with blanks", "with\\040 a backslash", "ünïcode"])
def test_folders_of_any_name(tmp_path, kept_by, name):
    folder = tmp_path / name
    folder.mkdir()
    assert confined(folder, kept_by, "open('new', 'w')").returncode == 0, (
        folder / "stderr"
    ).read_text()
    assert (folder / "new").exists()


# As CUDA does it, without which it does not start: from the thread itself, and by this path.
NAMES_ITS_THREAD = """
import os, subprocess, sys, threading
def name():
    path = f"/proc/self/task/{threading.get_native_id()}/comm"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666))
        print("named", flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
thread = threading.Thread(target=name)
thread.start()
thread.join()
"""
OF_THE_SYSTEM = ("sys/kernel/core_pattern", "sys/vm/drop_caches", "sys/kernel/hostname")
WRITES_OF_THE_SYSTEM = f"""
import os
for name in {OF_THE_SYSTEM}:
    try:
        os.close(os.open("/proc/" + name, os.O_WRONLY))
        print("opened", name)
    except OSError:
        pass
"""


def test_a_program_may_name_its_threads(tmp_path, kept_by):
    assert confined(tmp_path, kept_by, NAMES_ITS_THREAD).returncode == 0
    assert (tmp_path / "stdout").read_text() == "named\n"


def test_what_it_starts_may_do_so_in_namespaces(tmp_path, kept_by):
    relative = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {NAMES_ITS_THREAD!r}])"
    )
    assert confined(tmp_path, kept_by, relative).returncode == 0
    expected = "Permission denied\n" if kept_by == "landlock" else "named\n"
    assert (tmp_path / "stdout").read_text() == expected


def test_what_proc_says_of_the_system_cannot_be_changed(tmp_path, kept_by):
    assert confined(tmp_path, kept_by, WRITES_OF_THE_SYSTEM).returncode == 0
    assert (tmp_path / "stdout").read_text() == ""


@pytest.mark.parametrize("kind", ["open", "closed", "reading"])
def test_no_link_to_the_temporary_folder_stays_on_the_machine(tmp_path, kept_by, kind):
    access = {
        "open": open_access([tmp_path], own_interpreter(), kept_by),
        "closed": closed_access([tmp_path], [*own_interpreter(), Path("/tmp")], kept_by),
        "reading": reading_access([tmp_path], kept_by),
    }[kind]
    code = "import os; print(os.environ['TMPDIR']); open(os.environ['TMPDIR'] + '/x', 'w')"
    done = run(tmp_path, code, limits=Limits(access=access, room=tmp_path))
    assert done.returncode == 0
    name = Path((tmp_path / "stdout").read_text().strip()).name
    assert not os.path.lexists(f"/tmp/{name}")
