"""Completion in a real bash: commands, options, names of bugs, environments and detectors,
folders.
"""

import shutil
import subprocess
import sys

import pytest
from support.paths import ROOT

from trainbugs.cli.root_parser import build_parser

TRY = """
source ./script
COMP_WORDS=(trainbugs "$@")
COMP_CWORD=$#
_shtab_trainbugs
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(cli, toy, toy_environment, tmp_path):
    """What bash offers for the last word of a command, with the script that the program prints."""
    detector = toy.root / "detectors" / "never"
    detector.mkdir(parents=True)
    shutil.copytree(ROOT / "detectors" / "sanitizer", toy.root / "detectors" / "sanitizer")
    (detector / "detector.json").write_text("{}")
    (tmp_path / "Toys" / "inner").mkdir(parents=True)
    (tmp_path / "Toy.csv").write_text("")
    status, script, err = cli("completion", "bash")
    assert (status, err) == (0, "")
    (tmp_path / "script").write_text(script)

    def call(*words):
        done = subprocess.run(
            ["bash", "-uc", TRY, "bash", *words], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0
        assert done.stderr == ""
        return done.stdout.split()

    return call


@pytest.mark.parametrize(
    "words, offered",
    [
        (["ver"], ["versions"]),
        (["run", "--quie"], ["--quiet"]),
        (["run", "To"], ["Toy-1", "Toy-1/only", "Toys"]),
        (["run", "--seeds", "0", "Toy-1", "Toy-1/"], ["Toy-1/only"]),
        (["info", "Toy-"], ["Toy-1", "Toy-1/only"]),
        (["results", "--results", "To"], ["Toys"]),
        (["results", "--csv", "Toy"], ["Toys", "Toy.csv"]),
        (["validate", "Toys/"], ["Toys/inner"]),
        (["run", "Toy-1", "--environment", ""], ["toy"]),
        (["env", "b"], ["build"]),
        (["env", "build", "t"], ["toy"]),
        (["evaluate", "--detector", "ne"], ["never"]),
        (["evaluate", "--detector", "never", "ne"], ["never"]),
        (["evaluate", "--detector", "never", "--bugs", "Toy-"], ["Toy-1", "Toy-1/only"]),
        (["evaluate", "--overhead", "no"], ["none"]),
        (["scores", "--figures", "p"], ["png", "pdf"]),
        (["watch", "--ignore", "stale-g"], ["stale-gradients"]),
        (["watch", "Toy"], ["Toys", "Toy.csv"]),
        (["completion", "z"], ["zsh"]),
    ],
)
def test_bash(complete, words, offered):
    assert sorted(complete(*words)) == sorted(offered)


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_get_the_names_too(cli, toy_environment, shell):
    status, script, err = cli("completion", shell)
    assert (
        (status, err) == (0, "")
        and "Toy-1" in script
        and "toy" in script
        and "--quiet" in script
        or "quiet" in script
    )


def test_names_of_folders_are_no_commands(cli, toy, tmp_path):
    for name in ("$(touch made)", "x'y", "a b", "-rf"):
        bad = toy.root / "bugs" / name
        bad.mkdir()
        (bad / "config.json").write_text("{")
    script = cli("completion", "bash")[1]
    assert "touch" not in script
    assert "x'y" not in script
    assert "a b" not in script
    assert "Toy-1/only" in script


def test_what_is_typed_is_not_restricted(cli):
    cli("completion", "bash")
    assert build_parser().parse_args(["run", "not/among/them"]).targets == ["not/among/them"]


def test_without_shtab_there_is_one_line(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert cli("completion", "bash") == (
        2,
        "",
        "trainbugs: completion needs shtab, which is not installed; `pip install shtab`\n",
    )
