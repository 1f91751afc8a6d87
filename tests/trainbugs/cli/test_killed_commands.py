"""Commands that kill -9 ends again and again: they come to the same end,
and nothing is left over.
"""

import gc
import tempfile
import time
from pathlib import Path

import pytest
from support.detectors import write_detector
from support.killing import contents, files, killed_at
from support.studies import write_study
from support.toy import OWN_PYTHON, alone

from trainbugs.cli.main import main
from trainbugs.website.folder import MARKER

pytestmark = pytest.mark.stress

ALWAYS = 'main(lambda target, state: {"alarms": [alarm("here", "something", iteration=2)]})'
# How far a command comes before it is killed, in writes: each time farther.
FARTHER = 1.6


@pytest.fixture
def temporary(monkeypatch):
    """The folder for temporary files of the commands, short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="trainbugs-test-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture
def unpinned(monkeypatch):
    """Toys have no repository, and run in the interpreter of the tests."""
    for name in ("runner.studies.promote._refuse_runs", "runner.session.promote._refuse_unexpected",
                 "evaluation.running.promote._refuse_record",
                 "evaluation.running.promote.refuse_uncommitted", "trainbugs.cli.commands.study.refuse_unfit"):  # fmt: skip
        monkeypatch.setattr(name, lambda *_: None, raising=False)
    monkeypatch.setattr("runner.studies.promote.refuse_unfit", lambda study: None)


def hidden(*folders):
    """The names of what a command should have removed."""
    return [
        name
        for folder in folders
        for name in contents(folder)
        if ("/." in f"/{name}" or "tb-" in name) and name != MARKER
    ]


def kill_and_finish(command, first=3):
    """Kill a command at ever later writes, until one comes to its end;
    returns how many were killed.
    """
    number, deaths = first, 0
    while killed_at(number, lambda: main([str(word) for word in command])):
        deaths += 1
        number = int(number * FARTHER) + 1
    return deaths


def settled(folder):
    """What programs of a killed command made may go a moment later than the command."""
    for _ in range(100):
        if not hidden(folder):
            return []
        time.sleep(0.1)
    return hidden(folder)


def command(name, toy, tmp_path):
    """The words of a command, and the folder in which it leaves something for good."""
    expected = toy.directory / "expected"
    where = ("--results", toy.results, *OWN_PYTHON, "-q")
    if name == "study":
        write_study(toy)
        return ("study", "Toy-1/grid", "--update-expected", *where), toy.directory / "studies"
    if name == "run":
        return ("run", "Toy-1", "--update-expected", *where), expected
    if name == "evaluate":
        toy.configure(seeds=[0])
        detector = write_detector(tmp_path / "always", ALWAYS)
        return (
            "evaluate",
            "--detector",
            detector,
            "--update-expected",
            *where,
        ), toy.root / "detectors" / "expected"
    if name == "figures":
        main(["run", "Toy-1", "--update-expected", *map(str, where)])
        return ("figures", "Toy-1"), tmp_path / "figures"
    out = {"site": "site", "export": "release"}[name]
    return (name, "--out", tmp_path / out), tmp_path / out


@pytest.mark.parametrize("name", ["study", "run", "evaluate", "figures", "site", "export"])
def test_killed_again_and_again_a_command_comes_to_the_same_end(
    name, toy, cli, tmp_path, temporary, unpinned
):
    words, folder = command(name, toy, tmp_path)
    before = files(folder)
    assert kill_and_finish(words) > 6
    after = files(folder)
    assert after
    assert after != before
    # The next command finds all of it, and sweeps what is left.
    status, _, err = cli(*words)
    assert status == 0, err
    assert set(files(folder)) == set(after)
    gc.collect()  # a command that ends by itself removes its folders at the end of its process
    assert hidden(folder) == []
    assert settled(temporary) == []
    assert [
        name for name in hidden(toy.results) if not name.startswith((".claims", ".index"))
    ] == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_killed_sweep_over_versions(toy, toy_environment, cli, tmp_path, temporary):
    alone(toy)
    words = (
        "versions",
        "Toy-1",
        "--environments",
        "toy",
        "--update-expected",
        "-q",
        "--results",
        toy.results,
    )
    assert kill_and_finish(words, first=40) > 3
    expected = toy.directory / "expected"
    assert set(files(expected)) == {"versions.png", "versions/toy/only/buggy-seed0.json"}
    assert hidden(expected) == []
    assert settled(temporary) == []
