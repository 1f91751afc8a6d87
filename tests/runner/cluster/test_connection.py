"""Where a scheduler is, by its address or by the file that it writes."""

import json

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
