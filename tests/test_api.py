"""The Python interface as the README shows it."""

import re
import sys
from pathlib import Path

import pytest

import runner
from runner.errors import UsageError

ROOT = Path(__file__).parent.parent


def test_load_run_results(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert runner.load(toy.root).ids() == ("Toy-1",)
    outcome = runner.run("Toy-1", seeds=[0], python=sys.executable, root=toy.root)[0]
    assert outcome.verdict.outcome == "REPRODUCED"
    for _ in range(2):
        assert len(runner.results("Toy-1")) == 6
    assert runner.results(folder="elsewhere").empty


def test_the_readme_names_what_there_is():
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    assert set(runner.load().ids()) == set(re.findall(r"\(bugs/([^/]+)/README.md\) \|", text))
    assert all(callable(getattr(runner, name)) for name in re.findall(r"runner\.(\w+)\(", block))


def test_arguments_are_those_of_the_command(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINBUGS_DATA", "/no/such/folder")
    with pytest.raises(UsageError, match="TRAINBUGS_DATA"):
        runner.run("Toy-1", python=sys.executable, root=toy.root, results=tmp_path)
    monkeypatch.delenv("TRAINBUGS_DATA")
    for wrong in (
        {"device": "cuda:x"},
        {"seeds": [0, 0]},
        {"timeout_s": -1},
        {"data": "/no/such"},
        {"environment": "x"},
    ):
        with pytest.raises(UsageError):
            runner.run("Toy-1", python=sys.executable, root=toy.root, results=tmp_path, **wrong)
    assert runner.run("Toy-1", seeds=[], python=sys.executable, root=toy.root, results=tmp_path)[0].records == ()
