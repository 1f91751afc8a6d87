"""`python -m trainbugs_watch`: what it says where it cannot watch."""

import sys

import pytest

from evaluation.watching.in_process import command
from evaluation.watching.in_process.watching import Watching


@pytest.fixture
def script(tmp_path, monkeypatch):
    path = tmp_path / "train.py"
    path.write_text("")
    monkeypatch.setattr(sys, "argv", ["trainbugs_watch"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    return str(path)


def without(module):
    """A start of the watching in a Python that lacks a module."""

    def start(watching):
        raise ModuleNotFoundError(f"No module named '{module}'", name=module)

    return start


def test_a_python_without_torch_is_one_line(script, monkeypatch, capsys):
    monkeypatch.setattr(Watching, "start", without("torch"))
    with pytest.raises(SystemExit) as end:
        command.main([script])
    assert end.value.code == 2
    assert capsys.readouterr().err == (
        f"trainbugs: {sys.executable} has no torch; install it there\n"
    )


def test_another_module_that_is_missing_is_no_such_line(script, monkeypatch):
    monkeypatch.setattr(Watching, "start", without("numpy"))
    with pytest.raises(ModuleNotFoundError):
        command.main([script])
