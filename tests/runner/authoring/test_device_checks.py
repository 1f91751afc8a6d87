"""validate --devices: what the program inside an environment answers is read as a stranger's."""

import json

import pytest

from runner.authoring import devices

pytestmark = pytest.mark.usefixtures("toy_environment")
ANSWER = {"status": "passed", "reason": "", "steps": 3, "whole": True}
SAYS = """
import json
import sys
from pathlib import Path

config = json.loads(Path(sys.argv[2]).read_text())["parameters"]
assert Path(sys.argv[1]).is_file()
assert config["device"] == "cuda"
Path("device.json").write_text({text!r})
"""


@pytest.fixture
def answering(tmp_path, monkeypatch, toy):
    """Let the program of all environments answer that."""
    toy.configure(environment="toy")

    def answer(text):
        package = tmp_path / "pretended_gpu"
        package.mkdir(exist_ok=True)
        (package / "__main__.py").write_text(SAYS.format(text=text))
        monkeypatch.setattr(devices, "PACKAGE", package)

    return answer


def test_each_program_is_run_and_its_answer_shown(cli, answering):
    answering(json.dumps(ANSWER))
    status, out, _ = cli("validate", "--devices", "Toy-1")
    assert status == 0
    assert out == (
        "Toy-1/only/buggy: passed (3 steps of optimizers)\n"
        "Toy-1/only/fixed: passed (3 steps of optimizers)\n"
    )


@pytest.mark.parametrize("status", devices.ERRORS)
def test_an_error_is_a_failure(cli, answering, status):
    answering(json.dumps(ANSWER | {"status": status, "reason": "two devices"}))
    exit_status, out, _ = cli("validate", "--devices", "--json")
    assert exit_status == 1
    assert [check["status"] for check in json.loads(out)] == [status, status]


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"status": "passed"}', json.dumps(ANSWER | {"steps": -1}), "x" * 20_000],
)
def test_what_is_no_answer_is_no_pass(cli, answering, text):
    answering(text)
    status, out, _ = cli("validate", "--devices", "--json")
    assert status == 0
    assert {check["status"] for check in json.loads(out)} == {"not checkable"}


def test_an_environment_without_torch_cannot_be_checked(cli, toy):
    toy.configure(environment="toy")
    _, out, _ = cli("validate", "--devices")
    assert "Toy-1/only/buggy: not checkable: it said nothing" in out


def test_what_starts_processes_cannot_be_checked(cli, answering, toy):
    answering(json.dumps(ANSWER))
    toy.configure(processes=2)
    _, out, _ = cli("validate", "--devices")
    assert "not checkable: it starts processes of its own" in out
