"""The command env: which environments it builds, of bugs and of detectors."""

import json
import shutil

import pytest

DETECTOR = {
    "schema": 1, "name": "mine", "version": "1", "title": "a toy", "source": "here", "needs": ["source"],
    "adapter": "adapter.py", "alarm_rules": {"default": {}},
}  # fmt: skip


@pytest.fixture
def detector(toy):
    """A detector of the toy catalogue, which needs no package."""
    folder = toy.root / "detectors" / "mine"
    folder.mkdir(parents=True)
    (folder / "detector.json").write_text(json.dumps(DETECTOR))
    (folder / "adapter.py").write_text("")
    return folder


def test_all_are_those_of_all_bugs(cli, toy, toy_environment):
    shutil.copytree(toy_environment, toy_environment.with_name("needless"))
    status, out, _ = cli("env", "build", "--all")
    assert status == 0
    (line,) = out.splitlines()
    assert line.startswith("toy: ")
    assert "leave out the names, or --all" in cli("env", "build", "toy", "--all")[2]
    assert "are for env build, not for env list" in cli("env", "list", "--all")[2]


def test_the_environment_of_a_detector_is_built_by_its_name_or_folder(
    cli, detector, toy_environment
):
    for name in ("requirements.in", "requirements.txt", ".python-version", "environment.json"):
        shutil.copy(toy_environment / name, detector / name)
    assert cli("env", "check", "detector-mine")[1] == (
        f"detector-mine: not built; `trainbugs env build {detector}`\n"
    )
    status, out, _ = cli("env", "build", "detector-mine")
    assert status == 0
    assert out.startswith("detector-mine: ")
    assert cli("env", "check", detector)[:2] == (0, "detector-mine: as its lock says\n")
    assert cli("env", "remove", "detector-mine")[1].startswith("detector-mine: removed")


def test_a_detector_that_brings_none_is_told(cli, detector):
    line = "trainbugs: mine brings no environment: it needs no package\n"
    for name in ("detector-mine", detector):
        assert cli("env", "build", name)[::2] == (2, line)
    assert "no detector 'mime' (did you mean mine?)" in cli("env", "build", "detector-mime")[2]
