"""Options of a session: declared once, taken by the command line and the Python interface."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy
import pytest

import trainbugs
from runner.errors import UsageError
from runner.session.options import Options, OptionValues, from_values
from trainbugs.cli.commands import run
from trainbugs.cli.parser import session_options
from trainbugs.cli.root_parser import build_parser

# A value that is not the default, as typed and as meant.
TYPED: dict[str, tuple[list[str], Any]] = {
    "label": (["--label", "compiler", "--label", "user code"], ("compiler", "user code")),
    "seeds": (["--seeds", "3,4"], (3, 4)),
    "device": (["--device", "cpu"], "cpu"),
    "python": (["--python", "/a/python"], Path("/a/python")),
    "environment": (["--environment", "torch-1.0"], "torch-1.0"),
    "data": (["--data", "/"], Path("/")),
    "timeout_s": (["--timeout", "7.5"], 7.5),
    "network": (["--no-network"], False),
    "max_memory_gb": (["--max-memory", "2"], 2.0),
    "force": (["--force"], True),
    "profile": (["--profile"], True),
    "repeat": (["--repeat", "5"], 5),
    "jobs": (["-j", "3"], 3),
    "gpus": (["--gpus", "0,2"], (0, 2)),
    "per_gpu": (["--gpus", "0", "--runs-per-gpu", "2"], 2),
    "executor": (["--executor", "slurm"], "slurm"),
    "inject": (["--inject"], True),
    "trust_environments": (["--trust-environments"], True),
    "results": (["--results", "there"], Path("there")),
}


def test_nothing_typed_is_the_defaults():
    assert (
        session_options(build_parser().parse_args(["run", "Toy-1"])) == Options() == from_values({})
    )


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_is_what_the_python_interface_takes(name, monkeypatch):
    monkeypatch.setattr("runner.session.options._network_can_be_cut", lambda: None)
    words, value = TYPED[name]
    typed = session_options(build_parser().parse_args(["run", "Toy-1", *words]))
    assert getattr(typed, name) == value != getattr(Options(), name)
    assert from_values({"gpus": typed.gpus, name: value}) == typed


def test_every_option_is_offered_everywhere():
    names = {field.name for field in fields(Options)}
    assert (
        names
        == set(OptionValues.__annotations__)
        == set(TYPED) | {"keep"}
        == set(run.SESSION_OPTIONS) | {"keep"}
    )
    hints = get_type_hints(OptionValues)
    for field in fields(Options):
        kinds = {field.type, *get_args(field.type)}
        loose = {hints[field.name], *get_args(hints[field.name])}
        assert kinds & loose or field.name in ("label", "seeds", "gpus"), (
            f"{field.name} is of another type in OptionValues"
        )


def test_texts_and_lists_are_taken_too(tmp_path):
    options = from_values(
        {
            "label": "a",
            "python": "/a/python",
            "seeds": [1],
            "data": str(tmp_path),
            "results": "there",
        }
    )
    paths = {"python": Path("/a/python"), "data": tmp_path, "results": Path("there")}
    assert options == Options(label=("a",), seeds=(1,), **paths)


def test_an_option_that_there_is_not(toy):
    with pytest.raises(UsageError, match="there is no option 'sead'"):
        trainbugs.run("Toy-1", root=toy.root, sead=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "values, words",
    [
        ({"seeds": ["a"]}, r"seeds is \['a'\], expected whole numbers in a list"),
        ({"seeds": 5}, "seeds is 5, expected whole numbers in a list"),
        ({"gpus": [0.5]}, r"gpus is \[0.5\], expected whole numbers"),
        ({"label": [1]}, r"label is \[1\], expected texts in a list"),
        ({"jobs": "2"}, "jobs is '2', expected a whole number"),
        ({"timeout_s": "60"}, "timeout_s is '60', expected a number of seconds"),
        ({"device": 1}, "device is 1, expected a text"),
    ],
)
def test_a_value_of_another_type_is_one_line(values, words):
    with pytest.raises(UsageError, match=words):
        from_values(values)


def test_numbers_of_numpy_are_numbers():
    """And become Python's, which JSON takes."""
    options = from_values({"seeds": numpy.arange(2), "repeat": numpy.int64(3)})
    assert json.dumps([options.seeds, options.repeat]) == "[[0, 1], 3]"


def test_an_empty_path_is_none():
    assert from_values({"data": "", "python": ""}) == Options()
