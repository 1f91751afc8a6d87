"""Real, tiny children: output, timeout, memory, and that nothing of them stays behind."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.paths import ROOT
from support.processes import is_alive, run, wait_until

from runner.errors import ProcessError
from runner.sandbox import process
from runner.sandbox.process import error_line

# A child that starts a grandchild, tells its number, and waits with it.
FAMILY = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
"""


def test_exit_status_output_time_and_memory(tmp_path):
    done = run(
        tmp_path,
        "import sys; print('out'); print('err', file=sys.stderr); x = b'1' * 80_000_000; "
        "sys.exit(3)",
    )
    assert (done.returncode, done.timed_out) == (3, False)
    assert (tmp_path / "stdout").read_text() == "out\n"
    assert (tmp_path / "stderr").read_text() == "err\n"
    assert 80 < done.peak_memory_mb < 200
    assert 0 < done.wall_s < 10


def test_the_memory_of_the_runner_is_not_counted(tmp_path):
    held = b"1" * 300_000_000
    assert run(tmp_path, "").peak_memory_mb < len(held) / 3e6


def test_death_by_signal(tmp_path):
    assert run(tmp_path, "import os; os.kill(os.getpid(), 11)").returncode == -11


def test_timeout_kills_the_whole_group(tmp_path):
    done = run(tmp_path, FAMILY + "child.wait()", timeout_s=1.0)
    assert done.timed_out
    assert done.wall_s < 5
    grandchild = int((tmp_path / "stdout").read_text())
    assert wait_until(lambda: not is_alive(grandchild))


def test_a_background_child_does_not_outlive_its_parent(tmp_path):
    assert run(tmp_path, FAMILY).returncode == 0
    grandchild = int((tmp_path / "stdout").read_text())
    assert wait_until(lambda: not is_alive(grandchild))


def test_interrupt_kills_the_whole_group(tmp_path):
    def interrupt():
        wait_until(
            lambda: (
                (tmp_path / "stdout").exists() and (tmp_path / "stdout").read_text().endswith("\n")
            )
        )
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, FAMILY + "child.wait()")
    thread.join()
    grandchild = int((tmp_path / "stdout").read_text())
    assert wait_until(lambda: not is_alive(grandchild))


def test_an_interrupt_while_a_child_is_born_leaves_no_orphan(tmp_path, monkeypatch):
    real = process.subprocess.Popen
    born = []

    def slow(*arguments, **options):
        child = real(*arguments, **options)
        born.append(child.pid)
        signal.raise_signal(signal.SIGINT)
        return child

    monkeypatch.setattr(process.subprocess, "Popen", slow)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "import time; time.sleep(60)")
    assert len(born) == 1
    assert wait_until(lambda: not is_alive(born[0]))
    assert signal.getsignal(signal.SIGINT) is before


def test_the_environment_is_an_allow_list(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    run(tmp_path, "import json, os; print(json.dumps(dict(os.environ)))")
    text = (tmp_path / "stdout").read_text()
    assert "SECRET_TOKEN" not in text
    assert "PYTHONPATH" not in text
    assert '"OMP_NUM_THREADS": "2"' in text
    assert '"TZ": "UTC"' in text
    assert '"PYTHONHASHSEED": "0"' in text
    assert '"CUBLAS_WORKSPACE_CONFIG": ":4096:8"' in text
    assert '"GOMP_SPINCOUNT": "10000"' in text


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(ProcessError, match="nothing/here: cannot be started: No such file"):
        process.run(
            ["nothing/here"],
            cwd=tmp_path,
            env={},
            stdout=tmp_path / "o",
            stderr=tmp_path / "e",
            timeout_s=1,
        )
    with pytest.raises(ProcessError, match="cannot be started"):
        process.output(["nothing/here"], env={})


def test_output():
    assert process.output([sys.executable, "-c", "print(1)"], env={}) == "1\n"
    with pytest.raises(ProcessError, match="ValueError: why"):
        process.output([sys.executable, "-c", "raise ValueError('why')"], env={})
    with pytest.raises(ProcessError, match="no answer"):
        process.output([sys.executable, "-c", "import time; time.sleep(9)"], env={}, timeout_s=0.3)


def test_on_wait_is_called(tmp_path):
    times = []
    run(tmp_path, "import time; time.sleep(0.3)", on_wait=times.append)
    assert len(times) > 3
    assert times == sorted(times)


def test_the_error_of_a_program_is_the_exception_of_its_last_traceback():
    advice = "You can suppress this by\n    import torch"
    text = (
        "warning\nTraceback (most recent call last):\n  File x\n    y\nKeyError: 1\n\nDuring …\n\n"
        + f"{TRACE}\n\n{advice}\n"
    )
    assert error_line(text) == "BackendCompilerFailed: backend='b' raised: InvalidCxxCompiler: none"
    assert (
        error_line("Traceback (most recent call last):\n  File x\nValueError: no\n")
        == "ValueError: no"
    )
    assert error_line("Traceback (most recent call last):\n  File x\nKeyError:\n") == "KeyError:"
    assert error_line("a\nb\n\n") == "b"
    assert error_line("") == ""
    assert error_line("Traceback (most recent call last):\n  File x\n") == "File x"


def test_the_error_of_a_program_that_was_started_is_told_by_its_own_traceback():
    traceback = "Traceback (most recent call last):\n  File x\nValueError: no\n"
    starter = (
        "Traceback (most recent call last):\n  File y\nsubprocess.CalledProcessError: Command '…' "
        "returned 1.\n"
    )
    assert (
        error_line(f"{traceback}{starter}")
        == error_line(f"{traceback}{starter}{starter}")
        == "ValueError: no"
    )
    assert error_line(f"{starter}{traceback}") == "ValueError: no"
    assert error_line(f"killed\n{starter}").startswith("subprocess.CalledProcessError: ")


TRACE = """Traceback (most recent call last):
  File x
    z
BackendCompilerFailed: backend='b' raised:
InvalidCxxCompiler: none"""


def test_foreground_returns_the_status_and_leaves_signals_as_they_were():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    code = "import signal, sys; sys.exit(3 + len(signal.pthread_sigmask(signal.SIG_BLOCK, ())))"
    assert process.foreground([sys.executable, "-c", code], env=os.environ) == 3 + len(before)
    dies = "import os; os.kill(os.getpid(), 9)"
    assert process.foreground([sys.executable, "-c", dies], env=os.environ) == -9
    with pytest.raises(ProcessError, match="nowhere: cannot be started"):
        process.foreground(["nowhere"], env=os.environ)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


# `foreground` in a process without other threads, which signals would reach; pytest-xdist has some.
CALL = """
import os, signal, subprocess, sys
from runner.sandbox import process

class Ended(subprocess.Popen):
    def poll(self):
        status = super().poll()
        if status is not None:
            os.kill(os.getpid(), signal.SIGINT)
        return status

if sys.argv[1] == "late":
    process.subprocess.Popen = Ended
print(process.foreground([sys.executable, "-c", sys.argv[2]], env=os.environ))
"""


def foreground(when, code):
    return subprocess.run(
        [sys.executable, "-c", CALL, when, code], cwd=ROOT, capture_output=True, text=True
    )


def test_foreground_hands_on_what_comes():
    code = """
import os, signal, time
came = []
signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
os.kill(os.getppid(), signal.SIGINT)
until = time.monotonic() + 10
while not came and time.monotonic() < until:
    time.sleep(0.01)
os._exit(len(came))
"""
    assert foreground("in time", code).stdout == "1\n"


def test_foreground_drops_what_comes_too_late():
    """It was meant for the program, which has just ended."""
    done = foreground("late", "")
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


@pytest.mark.parametrize("kernel", ["new", "old"])
def test_a_process_is_waited_for_with_and_without_a_descriptor(tmp_path, monkeypatch, kernel):
    def refused(pid, flags=0):
        raise OSError(38, "Function not implemented")

    if kernel == "old":
        monkeypatch.setattr(process.os, "pidfd_open", refused)
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    times = []
    ended = run(tmp_path, "import time; time.sleep(0.1)", on_wait=times.append)
    assert (ended.returncode, ended.timed_out) == (0, False)
    assert times
    assert len(list(descriptors.iterdir())) == before
    late = run(tmp_path, "import time; time.sleep(60)", timeout_s=0.3)
    assert late.timed_out


def test_a_process_that_ends_wakes_its_waiter():
    """It would sleep for a minute otherwise."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    with process._wakened_by(child.pid) as sleep:
        sleep(60)
    assert process._has_ended(child.pid)
    child.wait()


def test_a_mistake_in_writing_says_in_which_line_it_is() -> None:
    written = """  File "/some/where/monitor.py", line 3
    def attach(:
               ^
SyntaxError: invalid syntax
"""
    assert error_line(written) == "SyntaxError: invalid syntax (monitor.py, line 3)"
    imported = f"""Traceback (most recent call last):
  File "/some/where/adapter.py", line 1, in <module>
    import monitor
{written}"""
    assert error_line(imported) == "SyntaxError: invalid syntax (monitor.py, line 3)"
    assert error_line("SyntaxError: invalid syntax\n") == "SyntaxError: invalid syntax"
