"""Where a scheduler is, by its address or by the file that it writes."""

import json
import os
import subprocess
import sys

import pytest

from runner.cluster.connection import address
from runner.errors import UsageError


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
    with pytest.raises(UsageError, match="cannot be read"):
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
