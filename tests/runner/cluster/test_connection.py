"""Where a scheduler is, by its address or by the file that it writes."""

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from runner.cluster import connection
from runner.cluster.connection import address
from runner.errors import ClusterError, UsageError


def test_an_address_is_taken_as_it_is():
    assert address("tls://host:8786") == "tls://host:8786"


def test_a_host_and_a_port_get_a_protocol():
    assert address("host:8786") == "tcp://host:8786"


def test_a_file_names_the_address(tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps({"address": "tcp://other:1"}))
    assert address(str(path)) == "tcp://other:1"


def test_a_file_without_an_address_is_refused(tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text("{}")
    with pytest.raises(UsageError, match=r"scheduler.json': 'address'; expected what"):
        address(str(path))


@pytest.mark.parametrize(
    "content, problem",
    [
        ("[" * 100_000, "nested more than"),
        ('{"address": 5}', "address is 5, expected a text"),
        ("x" * 2_000_000, "is larger than"),
    ],
)
def test_a_hostile_file_is_refused(tmp_path, content, problem):
    path = tmp_path / "scheduler.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=problem):
        address(str(path))


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(UsageError, match="is no plain file"):
        address(str(tmp_path / "pipe.json"))


@pytest.mark.parametrize(
    "text", ["host", "tcp://host", "a:b:c", "x:y", "::", "tcp://", "no://x:1", f"{'é' * 80}:1"]
)
def test_what_is_no_address_is_said_at_once(text):
    with pytest.raises(UsageError, match="no address of a scheduler .*; expected HOST:PORT"):
        address(text)


def test_a_malformed_configuration_of_dask_is_one_line(tmp_path):
    """Dask reads it when it is imported: in a new process."""
    file = tmp_path / "jobqueue.yaml"
    file.write_text("jobqueue:\n  slurm:\n   queue: [gpu\n bad: :\n")
    said = subprocess.run(
        [sys.executable, "-m", "trainbugs", "run", "SO-60335387", "--executor", "dask:here:1"],
        env={**os.environ, "DASK_CONFIG": str(tmp_path)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert said.returncode == 2
    (line,) = said.stderr.splitlines()
    assert f"executor dask: A dask config file at '{file}' is malformed; mend that file" in line


def test_what_is_no_scheduler_is_not_waited_for(monkeypatch):
    """A port that is open, and never answers."""
    monkeypatch.setattr(connection, "CONNECT_S", 0.5)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        where = f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(ClusterError, match="something listens there, and is no scheduler"):
            connection.client(where, where)


def test_an_interrupt_stays_what_it_was():
    """dask_jobqueue makes it an end with exit status 0, when it is imported: in a new process."""
    script = (
        "import signal\n"
        "from runner.cluster import connection\n"
        "from trainbugs import interrupts\n"
        "interrupts.install()\n"
        "before = signal.getsignal(signal.SIGINT)\n"
        "connection.require('slurm')\n"
        "import dask_jobqueue\n"
        "assert signal.getsignal(signal.SIGINT) is before\n"
        "signal.raise_signal(signal.SIGINT)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.returncode == -signal.SIGINT, ended.stderr
    assert "KeyboardInterrupt" in ended.stderr
