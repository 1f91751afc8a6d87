"""The Python interface."""

import sys

import pytest

import trainbugs
from runner.errors import UsageError


def test_load_run_results(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert trainbugs.load(toy.root).ids() == ("Toy-1",)
    outcome = trainbugs.run("Toy-1", seeds=[0], python=sys.executable, root=toy.root)[0]
    assert outcome.verdict.outcome == "REPRODUCED"
    for _ in range(2):
        assert len(trainbugs.results("Toy-1")) == 6
    assert trainbugs.results(folder="elsewhere").empty


def test_arguments_are_those_of_the_command(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINBUGS_DATA", "/no/such/folder")
    with pytest.raises(UsageError, match="TRAINBUGS_DATA"):
        trainbugs.run("Toy-1", python=sys.executable, root=toy.root, results=tmp_path)
    monkeypatch.delenv("TRAINBUGS_DATA")
    for wrong in (
        {"device": "cuda:x"},
        {"seeds": [0, 0]},
        {"timeout_s": -1},
        {"data": "/no/such"},
        {"environment": "x"},
    ):
        with pytest.raises(UsageError):
            trainbugs.run("Toy-1", python=sys.executable, root=toy.root, results=tmp_path, **wrong)
    assert trainbugs.run("Toy-1", seeds=[], python=sys.executable, root=toy.root, results=tmp_path)[0].records == ()
