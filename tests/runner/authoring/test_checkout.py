"""Working copies: run by hand as they are; blind ones tell nothing of which variant is which."""

import hashlib
import json
import re
import shlex
import subprocess
import sys

import pytest
from support.paths import ROOT

from runner.authoring.checkout import checkout
from runner.bugs.catalog import Catalog
from runner.errors import UsageError


def run_by_hand(line):
    """Do what a line of checkout's says; returns what the program printed."""
    command = line.partition(": ")[2].replace("python3", shlex.quote(sys.executable))
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    return [json.loads(text) for text in done.stdout.splitlines()]


def test_a_copy_runs_by_hand(toy, tmp_path):
    lines = checkout(toy.catalog.select(["Toy-1"]), tmp_path / "copy", blind=False)
    assert [record["accuracy"] for record in run_by_hand(lines[0])] == [1, 2, 3]
    assert [record["accuracy"] for record in run_by_hand(lines[1])] == [2, 4, 6]
    names = {path.name for path in (tmp_path / "copy").iterdir()}
    assert names == {
        "buggy.py",
        "fixed.py",
        "config.json",
        "only.json",
        "README.md",
        "metrics.json",
    }
    done = subprocess.run(
        [sys.executable, "fixed.py"], cwd=tmp_path / "copy", capture_output=True, check=True
    )
    assert len(done.stdout.splitlines()) == 3


def test_a_blind_copy_runs_and_tells_nothing(toy, tmp_path):
    toy.write("helper.py", "x = 1\n")
    lines = checkout(toy.catalog.select(["Toy-1"]), tmp_path / "copy", blind=True)
    assert [record["accuracy"] for record in run_by_hand(lines[0])] == [1, 2, 3]
    (tmp_path / "copy" / "metrics.json").unlink()
    names = {path.name for path in (tmp_path / "copy").iterdir()}
    assert names == {"program1.py", "program2.py", "helper.py", "parameters1.json"}
    text = "".join(path.read_text() for path in (tmp_path / "copy").iterdir()).lower()
    assert not [word for word in ("bug", "fix", "toy-1", "expect", "trigger") if word in text]


def test_the_order_of_blind_names_does_not_depend_on_the_variant(toy, tmp_path):
    checkout(toy.catalog.select(["Toy-1"]), tmp_path / "one", blind=True)
    buggy, fixed = ((toy.directory / name).read_text() for name in ("buggy.py", "fixed.py"))
    toy.write("buggy.py", fixed)
    toy.write("fixed.py", buggy)
    checkout(toy.catalog.select(["Toy-1"]), tmp_path / "two", blind=True)
    first, second = ((tmp_path / name / "program1.py").read_text() for name in ("one", "two"))
    assert first == second
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (buggy, fixed)]
    assert hashlib.sha256(first.encode()).hexdigest() == min(digests)


def test_one_variant(toy, tmp_path):
    lines = checkout(toy.catalog.select(["Toy-1/only/fixed"]), tmp_path / "copy", blind=True)
    assert len(lines) == 1
    assert {path.name for path in (tmp_path / "copy").iterdir()} == {
        "program1.py",
        "parameters1.json",
    }


@pytest.mark.parametrize("name", Catalog(ROOT).ids())
def test_real_bugs_checked_out_blind_tell_nothing(name, tmp_path):
    checkout(Catalog(ROOT).select([name]), tmp_path, blind=True)
    for path in tmp_path.iterdir():
        telltales = re.findall(
            rf"(?i)\b(buggy|fixed|fault|bug|{re.escape(name)})\b", path.read_text() + path.name
        )
        assert not telltales, (path, telltales)


def test_a_directory_that_is_not_empty_is_left_alone(toy, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="exists and is not empty"):
        checkout(toy.catalog.select(["Toy-1"]), tmp_path, blind=False)
    with pytest.raises(UsageError, match="exists and is not empty"):
        checkout(toy.catalog.select(["Toy-1"]), tmp_path / "mine.txt", blind=False)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mine.txt"]
