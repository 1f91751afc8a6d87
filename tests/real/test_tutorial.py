"""The tutorial, typed word by word in a new folder."""

import os
import re
import subprocess
import sys
from operator import itemgetter
from pathlib import Path

import pytest
from support.paths import ROOT

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
FILES = re.compile(
    r"`(flat-loss/[a-z]+\.(?:json|py))`(?:(?!```).)*```(?:json|python)\n(.*?)```", re.DOTALL
)
COMMANDS = re.compile(r"```sh\n(.*?)\n```")
TABLES = re.compile(r"```\n((?:CASE|DETECTOR) .*?)```", re.DOTALL)
# What is of a machine and an hour.
OF_A_MACHINE = ("SECONDS", "DRIFT")


def cells(table, columns=OF_A_MACHINE):
    """The cells of a printed table, without the columns that differ between machines."""
    heading, *lines = [re.split(r" {2,}", line.strip()) for line in table.splitlines()]
    kept = [number for number, name in enumerate(heading) if name not in columns]
    return [itemgetter(*kept)(line) for line in (heading, *lines)]


@pytest.mark.real
def test_the_tutorial_is_as_it_says(tmp_path):
    files = FILES.findall(PAGE)
    assert [name for name, _ in files] == ["flat-loss/detector.json", "flat-loss/monitor.py"]
    for name, content in files:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    commands = COMMANDS.findall(PAGE)
    assert len(commands) == 4
    outputs = []
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    verdict, scores = TABLES.findall(PAGE)
    assert cells(outputs[1].split("\n\n")[0]) == cells(verdict)
    lines = len(scores.splitlines())
    assert cells("\n".join(outputs[3].splitlines()[:lines])) == cells(scores)
    for picture in ("figures/SO-60335387/compare_digits.png", "scores/page.png"):
        assert (tmp_path / picture).is_file()
