"""Attacks by a bug's script on what is not its own: each one is tried under each kind of isolation.

Some succeed where there is only Landlock; docs/isolation.md names them, and so does OPEN.
"""

import ctypes
import json
import os
import socket
import stat
import subprocess
import sys

import pytest
from support.isolated import isolated_by
from support.paths import ROOT
from support.toy import SCRIPT, of_any_length

from runner.sandbox import landlock

AS_ROOT = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT RUN: only root has capabilities to drop"
)
HEAD = """
import ctypes, fcntl, json, os, resource, socket, stat, sys, tempfile
from pathlib import Path
LIBC, CORE = ctypes.CDLL(None, use_errno=True), resource.RLIMIT_CORE
DEVICE = "/dev/full"
TIMES = os.stat(DEVICE)

def syscall(*arguments):
    result = LIBC.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def gains(act):
    try:
        act()
    except (OSError, ValueError):
        return False
    return True
"""
# Each attack is an expression that raises OSError where it gains nothing. All change nothing where
# they succeed.
ATTACKS = {
    "limit the runner": "resource.prlimit(RUNNER, CORE, resource.prlimit(RUNNER, CORE))",
    "renice the runner": (
        "os.setpriority(os.PRIO_PROCESS, RUNNER, os.getpriority(os.PRIO_PROCESS, RUNNER))"
    ),
    "move the runner to other cores": "os.sched_setaffinity(RUNNER, os.sched_getaffinity(RUNNER))",
    "the priority of its disk": "syscall(251, 1, RUNNER, 0)",
    "the user's terminal": "os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)",
    "what is typed there": "os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY)",
    "temporary files of others": "Path(TEMPORARY).read_text()",
    "an older result": "Path(RESULT).read_text()",
    "the catalogue": "Path(CHECKOUT, 'setup.cfg').read_text()",
    "the size of a file of the catalogue": "os.stat(Path(CHECKOUT, 'setup.cfg'))",
    "the modes of a result": "os.chmod(RESULT, 0o644)",
    "the times of a result": "os.utime(RESULT)",
    "an attribute of a result": "os.setxattr(RESULT, 'user.x', b'1')",
    "the times of a device": "os.utime(DEVICE, ns=(TIMES.st_atime_ns, TIMES.st_mtime_ns))",
    "the modes of a device": "os.chmod(DEVICE, stat.S_IMODE(TIMES.st_mode))",
    "the status of the runner": "Path(f'/proc/{RUNNER}/status').read_text()",
    "a service's socket": "socket.socket(socket.AF_UNIX).connect(SERVICE)",
    "a service's socket without a path": "socket.socket(socket.AF_UNIX).connect('\\0' + NAMELESS)",
}
# What only namespaces keep a program from: Landlock looks at contents.
STRONG_ONLY = {
    "the size of a file of the "
    "catalogue", "the modes of a result", "the times of a result", "an attribute of a result",
    "the status of the runner", "a service's socket",
    "the times of a device", "the modes of a device",
}  # fmt: skip
# What each kind leaves open. Landlock knows sockets without a path since Linux 6.12.
NAMELESS = {"a service's socket without a path"}
OPEN = {
    "namespaces+landlock": set() if landlock.version() >= 6 else NAMELESS,
    "namespaces": NAMELESS,
    "landlock": STRONG_ONLY if landlock.version() >= 6 else STRONG_ONLY | NAMELESS,
}


def gained(toy, acts, names=None, **options):
    """Which acts of the toy's buggy script succeed."""
    lines = [f"{name} = {value!r}" for name, value in (names or {}).items()]
    lines += [
        "done = {}",
        *(f"done[{name!r}] = gains(lambda: {act})" for name, act in acts.items()),
    ]
    toy.write(
        "buggy.py",
        HEAD + "\n".join(lines) + "\nPath('metrics.json').write_text(json.dumps([done]))\n",
    )
    of_any_length(toy)
    record = toy.run("Toy-1/only/buggy", seeds=(0,), **options).records[0]
    assert record.ok, record.reason
    return {name for name, success in record.metrics[0].items() if success}


def test_attack_on_what_is_not_its_own_gains_nothing(toy, tmp_path, kept_by):
    result = toy.results / "Other-1" / "only" / "buggy-seed0-0.json"
    result.parent.mkdir(parents=True)
    result.write_text("{}")
    temporary = tmp_path / "notes"
    temporary.write_text("x")
    leader, follower = os.openpty()
    service, nameless = tmp_path.parent / f"{os.getpid()}.sock", f"trainbugs-{os.getpid()}"
    try:
        with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as abstract:
            listening.bind(str(service))
            abstract.bind(f"\0{nameless}")
            for server in (listening, abstract):
                server.listen(5)
            names = {
                "RUNNER": os.getpid(), "TERMINAL": os.ttyname(follower), "TEMPORARY": str(temporary),
                "RESULT": str(result), "CHECKOUT": str(ROOT), "SERVICE": str(service), "NAMELESS": nameless,
            }  # fmt: skip
            assert gained(toy, ATTACKS, names) <= OPEN[kept_by]
    finally:
        os.close(leader)
        os.close(follower)
        service.unlink(missing_ok=True)


def test_script_has_a_terminal_of_its_own_in_namespaces(toy, kept_by):
    acts = {"a terminal": "os.openpty()", "typing": "fcntl.ioctl(os.openpty()[1], 0x5412, b'x')"}
    assert gained(toy, acts) == ({"a terminal"} if "namespaces" in kept_by else set())


@AS_ROOT
@pytest.mark.parametrize("isolation", ["namespaces+landlock", "namespaces", "landlock", "none"])
def test_root_loses_its_capabilities(toy, isolation, possible, monkeypatch):
    possible(isolation)
    acts = {
        "a device": "os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))",
        "the name of the host": "socket.sethostname(socket.gethostname())",
        "another owner": "os.chown(Path('file').write_text('') or 'file', 12345, -1)",
        "more than its hard limit": "resource.setrlimit(resource.RLIMIT_CORE, (1, 1))",
        "an own file": "os.chmod(Path('mine').write_text('') or 'mine', 0o600)",
    }
    with isolated_by(isolation, monkeypatch):
        assert gained(toy, acts) == {"an own file"}


# IPC_CREAT | IPC_EXCL fails where there is one already; -3 is the session's keyring, -4 the user's;
# 10 searches.
NOTES = {
    "/dev/shm": "os.close(os.open('/dev/shm/trainbugs-note', os.O_CREAT | os.O_EXCL))",
    "System V memory": "syscall(29, 7423, 16, 0o3600)",
    "System V messages": "syscall(68, 7423, 0o3600)",
    "the session's keyring": "search(-3)",
    "the user's keyring": "search(-4)",
}
SEARCH = """
def search(ring):
    before = LIBC.syscall(250, 10, ring, b"user", b"trainbugs-note", 0)
    LIBC.syscall(248, b"user", b"trainbugs-note", b"seen", 4, ring)
    if before > 0:
        raise OSError("it is there")
"""


@pytest.mark.parametrize("has_session", [False, True])
def test_note_of_one_run_is_not_there_in_the_next(toy, kept_by, has_session):
    if has_session:
        # As after a login: a new session keyring, which programs inherit.
        ctypes.CDLL(None).syscall(250, 1, None)
    if "namespaces" not in kept_by:
        pytest.skip("Landlock keeps no memory apart; docs/isolation.md says so")
    for number in range(2):
        lines = [f"new[{name!r}] = gains(lambda: {act})" for name, act in NOTES.items()]
        end = f"\nPath('metrics.json').write_text(json.dumps([new]))  # {number}\n"
        toy.write("buggy.py", HEAD + SEARCH + "new = {}\n" + "\n".join(lines) + end)
        of_any_length(toy)
        record = toy.run("Toy-1/only/buggy", seeds=(0,)).records[0]
        assert record.ok, record.reason
        assert {name for name, new in record.metrics[0].items() if not new} == set(), (
            f"run {number}"
        )


# Lowers every limit of the processes that belong to the command.
LIMITING = """
import os, resource
for name in os.listdir("/proc"):
    try:
        if not name.isdigit() or MARK.encode() not in open(f"/proc/{name}/cmdline", "rb").read():
            continue
        if int(name) != os.getpid():
            for limit in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
                resource.prlimit(int(name), limit, (16, 16))
            os.setpriority(os.PRIO_PROCESS, int(name), 19)
    except OSError:
        pass
"""


@pytest.mark.parametrize("isolation", ["namespaces+landlock", "namespaces", "landlock", "none"])
def test_one_script_changes_no_other_verdict(toy, tmp_path, isolation, possible):
    """The first bug's script limits whatever names the results folder: the command goes on with the
    second one.
    """
    possible(isolation)
    mark = str(tmp_path / "results")
    toy.write("buggy.py", f"MARK = {mark!r}\n{LIMITING}" + SCRIPT.replace("VALUE", "1"))
    second = toy.directory.with_name("Toy-2")
    second.mkdir()
    for path in toy.directory.iterdir():
        if path.is_file():
            (second / path.name).write_bytes(path.read_bytes())
    config = (second / "config.json").read_text().replace("Toy-1", "Toy-2")
    (second / "config.json").write_text(config)
    (second / "buggy.py").write_text(SCRIPT.replace("VALUE", "1"))
    words = [
        sys.executable,
        "-m",
        "runner",
        "run",
        toy.directory,
        second,
        "--seeds",
        "0",
        "--results",
        mark,
    ]
    done = subprocess.run(
        [*map(str, words), "--python", sys.executable], capture_output=True, text=True, cwd=ROOT, timeout=120,
        env={**os.environ, "TRAINBUGS_ISOLATION": isolation},
    )  # fmt: skip
    verdicts = [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("Toy-")]
    assert verdicts == [["Toy-1/only", "REPRODUCED"], ["Toy-2/only", "REPRODUCED"]], (
        done.stdout + done.stderr
    )


def test_accelerators_and_what_loaders_need_are_there(toy, kept_by):
    """As far as it can be told without one: the driver's folder in /proc, shared memory, the usual
    devices.
    """
    acts = {
        "drivers": "os.listdir('/proc/driver')",
        "shared memory": (
            "Path('/dev/shm/x').write_bytes(bytes(1_000_000)) and os.unlink('/dev/shm/x')"
        ),
        "nothing": "Path('/dev/null').write_text('x')",
        "randomness": "os.read(os.open('/dev/urandom', os.O_RDONLY), 1)",
        "its own descriptors": "os.listdir('/dev/fd')",
    }
    assert gained(toy, acts) == set(acts)


def test_what_a_script_is_told_of_its_isolation_is_in_its_record(toy, kept_by):
    record = json.loads(next(_written(toy)).read_text())
    assert record["isolation"] == kept_by


def _written(toy):
    toy.run("Toy-1/only/buggy", seeds=(0,))
    return toy.results.rglob("buggy-*.json")


@pytest.mark.parametrize("folder", [".", "Path.home()", "os.environ['TMPDIR']"])
def test_folders_without_permissions_go_and_links_in_them_lead_nowhere(
    toy, tmp_path, folder, kept_by, monkeypatch
):
    """Removal opens the folders of a program again, and nothing that a link there leads to."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o711)
    lines = [
        f"folder = Path({folder!r})" if folder == "." else f"folder = Path({folder})",
        "inner = folder / 'inner'",
        "inner.mkdir()",
        f"(inner / 'link').symlink_to({str(outside)!r})",
        "(inner / 'file').write_text('x')",
        "Path('metrics.json').write_text('[{}]')",
        "os.chmod(inner, 0)",
        "os.chmod(folder, 0o500)",
    ]
    toy.write("buggy.py", HEAD + "\n".join(lines) + "\n")
    of_any_length(toy)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    record = toy.run("Toy-1/only/buggy", seeds=(0,)).records[0]
    assert record.ok, record.reason
    assert stat.S_IMODE(outside.stat().st_mode) == 0o711
    assert [*temporary.glob("tb-*"), *temporary.glob(".trainbugs-*/run-*")] == []


REPLACED = "put something else in the place of its working directory"


def test_link_in_the_place_of_the_working_directory_is_not_read(toy, tmp_path, kept_by):
    """The folder of the program is the one in which it was started, or its run is INVALID."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "metrics.json").write_text('[{"stolen": 1}]')
    toy.write(
        "buggy.py",
        f"import os\nos.rename('../run', '../old')\nos.symlink({str(hidden)!r}, '../run')\n",
    )
    of_any_length(toy)
    record = toy.run("Toy-1/only/buggy", seeds=(0,)).records[0]
    assert (record.status, record.reason, record.metrics) == ("killed", REPLACED, ())
    assert (hidden / "metrics.json").exists()


def test_flags_of_its_streams_are_not_those_of_the_runner(toy, kept_by):
    """A script that lets its standard output be read in whole blocks only ends itself, not the
    command.
    """
    lines = [
        "import fcntl, os",
        "os.write(1, b'x' * 5000)",
        "flags = fcntl.fcntl(1, fcntl.F_GETFL)",
    ]
    lines += ["fcntl.fcntl(1, fcntl.F_SETFL, flags | os.O_DIRECT)", "raise SystemExit(3)"]
    toy.write("buggy.py", "\n".join(lines))
    buggy, fixed = toy.run(seeds=(0,)).records
    assert (buggy.status, fixed.status) == ("crashed", "ok")


def test_no_namespace_is_made_within_one(toy, kept_by):
    """In a user namespace of its own a program would have all privileges."""
    acts = {"a user namespace": "LIBC.unshare(0x10000000) and (_ for _ in ()).throw(OSError())"}
    assert gained(toy, acts) == (set() if "namespaces" in kept_by else set(acts))


def test_shared_memory_is_limited(toy, kept_by):
    if "namespaces" not in kept_by:
        pytest.skip("Landlock gives no shared memory of its own; docs/isolation.md says so")
    acts = {"too much": "Path('/dev/shm/x').write_bytes(bytes(300_000_000))"}
    assert gained(toy, acts, max_memory_gb=0.2) == set()
