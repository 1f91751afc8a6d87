"""What a program may not do to the machine: outlive its runner, reach the network, take all memory
or fill the disk.
"""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.paths import ROOT
from support.processes import is_alive, run, wait_until
from support.toy import toy_config

from runner.errors import ProcessError, UsageError
from runner.sandbox import env, limits, process, supervisor
from runner.sandbox.access import open_access, own_interpreter
from runner.sandbox.limits import Limits, OwnFolder, command

# A program whose relatives are hard to kill: it prints the numbers of all, then waits. One of them
# has left the session and has no parent.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)

def wait():
    print(os.getpid(), flush=True)
    time.sleep(60)
    os._exit(0)

if os.fork() == 0:
    wait()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        wait()
    os._exit(0)
os.wait()
"""
RUNNER = """
import sys
from pathlib import Path
from runner.sandbox import env, process
from runner.sandbox.limits import Limits
here, code = Path(sys.argv[1]), sys.argv[2]
process.run([sys.executable, "-c", code], cwd=here, env=env.clean_environment(2, {}), stdout=here / "stdout",
            stderr=here / "stderr", timeout_s=60, limits=Limits())
"""


def numbers(tmp_path, many):
    """The numbers that a program has printed, as soon as there are that many."""
    path = tmp_path / "stdout"
    assert wait_until(lambda: path.exists() and path.read_text().count("\n") == many), (
        tmp_path / "stderr"
    ).read_text()
    return [int(line) for line in path.read_text().split()]


def all_dead(pids, seconds=5):
    return wait_until(lambda: not any(is_alive(pid) for pid in pids), seconds)


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """Start a runner in a process of its own, with its own folder for temporary files; returns
    it.
    """
    started = []
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))

    def start(code):
        root = ROOT
        started.append(
            subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path), code], cwd=root)
        )
        return started[0]

    yield start
    for program in started:
        program.kill()
        program.wait()


def test_a_killed_runner_leaves_no_process_and_no_folder(runner, tmp_path):
    started = runner(STUBBORN + "wait()")
    pids = numbers(tmp_path, 3)
    assert len(list((tmp_path / "tmp").iterdir())) == 1
    started.kill()
    started.wait()
    assert all_dead(pids, 1)
    assert wait_until(lambda: list((tmp_path / "tmp").iterdir()) == [])


def test_where_the_runner_is_gone_before_the_program_starts_nothing_starts(tmp_path):
    folder = tmp_path / "folder"
    argv = [
        word if not word.startswith("runner=") else "runner=1"
        for word in command(None, OwnFolder(folder, str(folder)), 2)
    ]
    program = [sys.executable, "-c", "open('ran', 'w')"]
    done = subprocess.run([*argv, *program], cwd=tmp_path, start_new_session=True)
    assert done.returncode == -9
    assert not folder.exists()
    assert not (tmp_path / "ran").exists()


def test_a_killed_watcher_takes_the_program_and_all_that_it_has_started_along(runner, tmp_path):
    started = runner(STUBBORN + "wait()")
    sessions = {pid: os.getsid(pid) for pid in numbers(tmp_path, 3)}
    watcher = max(sessions.values(), key=list(sessions.values()).count)
    program = int(Path(f"/proc/{watcher}/task/{watcher}/children").read_text().split()[0])
    started.send_signal(signal.SIGSTOP)
    os.kill(watcher, signal.SIGKILL)
    assert all_dead([program], 1)  # by the kernel, while nobody else can do it
    started.send_signal(signal.SIGCONT)
    assert wait_until(lambda: started.poll() == 0)
    assert len(set(sessions.values())) == 2
    assert all_dead(sessions)


@pytest.mark.parametrize("ending, timed_out", [("os._exit(0)", False), ("wait()", True)])
def test_nothing_outlives_a_program_that_ended_or_was_too_slow(tmp_path, ending, timed_out):
    done = run(tmp_path, STUBBORN + "time.sleep(0.5)\n" + ending, timeout_s=2 if timed_out else 20)
    assert (done.timed_out, done.wall_s < 5) == (timed_out, True)
    assert all_dead(numbers(tmp_path, 3 if timed_out else 2))


def test_a_program_that_signals_its_own_group_is_not_taken_for_the_runner(tmp_path):
    code = (
        "import os, signal; signal.signal(15, lambda *_: print('heard', flush=True)); os.killpg(0, "
        "15)"
    )
    assert run(tmp_path, code).returncode == 0
    assert (tmp_path / "stdout").read_text() == "heard\n"


def test_a_program_starts_as_if_nobody_stood_between(tmp_path):
    """No signal is ignored or held, no file is open but the three, and no core file is written."""
    program = [
        "/bin/sh",
        "-c",
        "grep -E 'SigBlk|SigIgn' /proc/self/status; ls /proc/self/fd; ulimit -c",
    ]
    names = {"stdout": tmp_path / "stdout", "stderr": tmp_path / "stderr"}
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    process.run(
        program,
        cwd=tmp_path,
        env=env.clean_environment(2, {}),
        timeout_s=20,
        limits=Limits(),
        **names,
    )
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    # What this program was told to ignore by its own parent, nohup say, its children ignore as
    # well.
    ours = int(re.search(r"SigIgn:\s*(\w+)", Path("/proc/self/status").read_text()).group(1), 16)
    inherited = ours & ~sum(1 << (number - 1) for number in (signal.SIGPIPE, signal.SIGXFSZ))
    ignored = f"{inherited:016x}"
    assert (tmp_path / "stdout").read_text().split() == [
        "SigBlk:",
        "0" * 16,
        "SigIgn:",
        ignored,
        "0",
        "1",
        "2",
        "3",
        "0",
    ]


def test_a_program_with_limits_has_a_home_of_its_own(tmp_path):
    code = (
        "import os, tempfile; home = os.path.expanduser('~'); print(home); "
        "print(tempfile.gettempdir())\nassert os.listdir(home) == []; open(home + '/left', 'w'); "
        "tempfile.mkdtemp(); print(os.listdir())"
    )
    assert run(tmp_path, code, limits=Limits()).returncode == 0, (tmp_path / "stderr").read_text()
    home, temporary, listing = (tmp_path / "stdout").read_text().splitlines()
    assert Path(home) != Path.home()
    assert not Path(home).exists()
    assert not Path(temporary).exists()
    assert sorted(listing.strip("[]").replace("'", "").split(", ")) == ["stderr", "stdout"]
    assert len(temporary) < len("/tmp/") + 20 or "TMPDIR" in os.environ


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(ProcessError, match="gone/tb-.*: cannot be made: No such file or directory"):
        run(tmp_path, "open('ran', 'w')", limits=Limits())
    assert not (tmp_path / "ran").exists()


def test_a_folder_deeper_than_the_stack_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = (
        "import os; os.chdir(os.environ['TMPDIR'])\nfor _ in range(1500): os.mkdir('d'); "
        "os.chdir('d')"
    )
    assert run(tmp_path, code, limits=Limits()).returncode == 0
    assert list(tmp_path.glob("tb-*")) == []


HOG = "held = bytearray(300_000_000)\nimport time; time.sleep(20)"


@pytest.mark.parametrize(
    "code",
    [
        HOG,
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOG!r}], "
        "start_new_session=True)",
    ],
)
def test_too_much_memory(tmp_path, code):
    done = run(tmp_path, code, limits=Limits(memory_mb=200))
    assert done.exceeded == "used more than 0.2 GB of memory"
    assert (done.timed_out, done.returncode, done.wall_s < 10) == (False, -9, True)


@pytest.mark.parametrize("memory_mb", [30, 0.001, 1e-9])
def test_too_much_memory_for_a_short_time(tmp_path, memory_mb):
    code = "held = bytearray(60_000_000)\nimport time; time.sleep(0.3)"
    assert run(tmp_path, code, limits=Limits(memory_mb=memory_mb)).exceeded


def test_memory_that_processes_share_counts_once(tmp_path):
    """Four processes with the same 120 MB, and a file of 120 MB that is only looked at."""
    fill = (
        "open('file', 'wb').write(bytes(120_000_000))\nimport mmap, os, time\nheld = "
        "bytearray(120_000_000)\n"
    )
    look = "file = mmap.mmap(os.open('file', 0), 0, prot=1)\nsum(file[::4096])\n"
    code = fill + look + "for _ in range(3): os.fork()\ntime.sleep(1.5)"
    done = run(tmp_path, code, limits=Limits(memory_mb=230))
    assert (done.exceeded, done.returncode) == (None, 0)
    assert run(tmp_path, code, limits=Limits(memory_mb=110)).exceeded


@pytest.mark.parametrize("statm, pages", [("900 70 20 1 0 300 0", 50), ("", 0)])
def test_of_a_process_that_may_not_be_looked_at_all_pages_count_but_shared_ones(
    monkeypatch, statm, pages
):
    texts = {"/proc/7/smaps_rollup": "", "/proc/7/statm": statm}
    monkeypatch.setattr(supervisor, "_read", texts.__getitem__)
    assert supervisor._held(7) == pages * resource.getpagesize()


@pytest.mark.parametrize(
    "stream, name", [("stdout", "standard output"), ("stderr", "standard error")]
)
def test_endless_output(tmp_path, stream, name):
    code = f"import sys\nwhile True: sys.{stream}.write('x' * 10_000 + chr(10))"
    done = run(tmp_path, code, limits=Limits(output_mb=3, file_mb=1000))
    assert done.exceeded == f"wrote more than 3 MB to its {name}"
    assert (tmp_path / stream).stat().st_size == 3_000_000


def test_output_is_too_much_also_where_the_program_has_ended_before_anybody_looked(tmp_path):
    done = run(tmp_path, "print('x' * 4_000_000)", limits=Limits(output_mb=3))
    assert done.exceeded == "wrote more than 3 MB to its standard output"
    assert (tmp_path / "stdout").stat().st_size == 3_000_000
    assert run(tmp_path, "print('x' * 2_000_000)", limits=Limits(output_mb=3)).exceeded is None


def test_a_file_that_grows_without_end(tmp_path):
    code = "with open('big', 'wb') as file:\n    while True: file.write(bytes(1_000_000))"
    assert run(tmp_path, code, limits=Limits(file_mb=5)).returncode == 1
    with (tmp_path / "stderr").open("rb") as stderr:
        assert process.error_in(stderr) == "OSError: [Errno 27] File too large"
    assert (tmp_path / "big").stat().st_size <= 5_000_000


NO_NETWORK = pytest.mark.skipif(
    process.network_can_be_cut() is not None, reason=str(process.network_can_be_cut())
)


@NO_NETWORK
def test_without_network_nothing_outside_is_reached(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = (
            "import socket\n"
            f"for host, port in (('127.0.0.1', {port}), ('192.0.2.1', 80)):\n"
            "    try: socket.create_connection((host, port), timeout=5); print('reached')\n"
            "    except OSError as error: print(error.strerror)\n"
        )
        run(tmp_path, code, limits=Limits(network=False))
        assert (tmp_path / "stdout").read_text() == "Connection refused\nNetwork is unreachable\n"
        run(tmp_path, code.replace("('192.0.2.1', 80)", ""), limits=Limits())
        assert (tmp_path / "stdout").read_text() == "reached\n"


@NO_NETWORK
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="NOT RUN: filters are for x86_64")
def test_without_network_no_socket_leads_around_the_namespace(tmp_path, kept_by):
    code = """
import asyncio, ctypes, socket
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK):
    socket.socket(family, socket.SOCK_DGRAM).close()
asyncio.run(asyncio.sleep(0))
for family in (socket.AF_VSOCK, socket.AF_ALG):
    try:
        socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        print(error.strerror)
print(ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(200)))
"""
    access = open_access([tmp_path], own_interpreter(), kept_by)
    run(tmp_path, code, limits=Limits(network=False, access=access))
    refused = "Address family not supported by protocol"
    assert (tmp_path / "stdout").read_text().splitlines() == [refused, refused, "-1"]


@NO_NETWORK
def test_without_network_localhost_and_the_user_are_there(tmp_path):
    code = (
        "import os, socket; server = socket.create_server(('localhost', 0))\nthere = "
        "socket.create_connection(server.getsockname()); server.accept()[0].send(b'x'); "
        "print(there.recv(1))\nprint(os.getuid(), os.getgid()); open('mine', 'w')"
    )
    done = run(tmp_path, code, limits=Limits(network=False, memory_mb=2000))
    assert done.returncode == 0, (tmp_path / "stderr").read_text()
    assert (tmp_path / "stdout").read_text() == f"b'x'\n{os.getuid()} {os.getgid()}\n"
    assert (tmp_path / "mine").stat().st_uid == os.getuid()


@NO_NETWORK
def test_a_program_without_network_is_limited_and_killed_like_any_other(tmp_path):
    done = run(tmp_path, HOG, limits=Limits(network=False, memory_mb=200))
    assert done.exceeded == "used more than 0.2 GB of memory"
    run(tmp_path, STUBBORN + "wait()", timeout_s=1.5, limits=Limits(network=False))
    assert all_dead(numbers(tmp_path, 3))


def test_where_the_network_cannot_be_cut_that_is_said_and_nothing_runs(tmp_path, monkeypatch):
    network = limits.SUPERVISOR.with_name("netns.py").read_text()
    (tmp_path / "netns.py").write_text(
        network.replace("0x10000000, 0x40000000", "1, 1")
    )  # flags that no kernel knows
    (tmp_path / "supervisor.py").write_text(limits.SUPERVISOR.read_text())
    monkeypatch.setattr(limits, "SUPERVISOR", tmp_path / "supervisor.py")
    process.network_can_be_cut.cache_clear()
    assert (
        process.network_can_be_cut()
        == "the network cannot be cut on this machine: Invalid argument"
    )
    process.network_can_be_cut.cache_clear()
    with pytest.raises(UsageError, match="Invalid argument"):
        run(tmp_path, "open('ran', 'w')", limits=Limits(network=False))
    assert not (tmp_path / "ran").exists()


def test_a_cancelled_program_ends_in_whatever_thread_it_was_started(tmp_path):
    class CancelledError(Exception):
        pass

    def cancel(elapsed):
        if elapsed > 1.0:
            raise CancelledError

    def work():
        try:
            run(tmp_path, STUBBORN + "wait()", on_wait=cancel, limits=Limits())
        except CancelledError as error:
            raised.append(error)

    raised: list[CancelledError] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert len(raised) == 1
    assert all_dead(numbers(tmp_path, 3))


def test_limits_of_a_run_are_options(cli, toy, monkeypatch):
    python = ("--python", sys.executable)
    toy.write("buggy.py", HOG)
    status, out, _ = cli("run", "Toy-1/only/buggy", "--seeds", "0", "--max-memory", "0.2", *python)
    assert (status, "used more than 0.2 GB of memory" in out) == (2, True)
    assert "expected a number above 0" in cli("run", "Toy-1", "--max-memory", "0", *python)[2]
    monkeypatch.setattr(process, "network_can_be_cut", lambda: "the network cannot be cut: no")
    status, out, err = cli("run", "Toy-1", "--no-network", *python)
    assert (status, out) == (2, "")
    assert err.startswith("trainbugs: the network cannot be cut: no; allow")


@NO_NETWORK
def test_a_run_without_network(cli, toy):
    list_interfaces = (
        "import socket, sys; sys.exit(str([name for _, name in socket.if_nameindex()]))"
    )
    toy.write("buggy.py", list_interfaces)
    run = ("run", "Toy-1/only/buggy", "--seeds", "0", "--python", sys.executable)
    assert "exit status 1: ['lo']" in cli(*run, "--no-network")[1]
    interfaces = [name for _, name in socket.if_nameindex() if name != "lo"]
    assert all(name in cli(*run)[1] for name in interfaces)


@pytest.mark.parametrize(
    "lines, folder, text, expected",
    [
        ("0::/job/step", "job/memory.max", "2000000000", 2000),
        ("0::/job/step", "job/step/memory.max", "max", None),
        ("0::/elsewhere", "memory.max", "3000000000", 3000),
        ("4:memory:/job", "memory/job/memory.limit_in_bytes", "1000000000", 1000),
        ("3:cpuset:/job\n0::/", "memory/memory.limit_in_bytes", "1000000000", None),
    ],
)
def test_the_memory_that_there_is_for_us(tmp_path, monkeypatch, lines, folder, text, expected):
    real = limits._read
    monkeypatch.setattr(
        limits, "_read", lambda path: lines if path == Path("/proc/self/cgroup") else real(path)
    )
    monkeypatch.setattr(limits, "CGROUPS", tmp_path)
    (tmp_path / folder).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / folder).write_text(text + "\n")
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024 / 1e6
    assert limits.machine_memory_mb() == pytest.approx(expected or total, rel=0.01)
    assert limits.default_memory_mb() == pytest.approx(0.9 * (expected or total), rel=0.01)


def test_a_case_that_downloads_its_data_is_refused_without_network(cli, toy):
    config = toy_config()
    config["cases"]["only"]["data"] = ["MNIST/raw/x"]
    toy.configure(**config)
    status, out, err = cli("run", "Toy-1", "--no-network", "--python", sys.executable)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "by --data" in err


def test_why_has_no_home_of_the_users(cli, toy):
    toy.write("why.py", "import os\nprint('home', os.environ['HOME'])\n")
    status, out, _ = cli("why", "Toy-1", "--python", sys.executable)
    assert status == 0
    assert out.startswith("home ")
    assert str(Path.home()) not in out
