"""An environment that cannot be built ends the runs that need it, and no others."""

import json
import shutil

import pytest

from runner.environments import builder, spec
from runner.errors import UnbuiltError


def with_a_second_bug(toy):
    """The toy catalogue with Toy-2, whose environment names a package that cannot be had."""
    broken = toy.root / "environments" / "broken"
    shutil.copytree(toy.root / "environments" / "toy", broken)
    (broken / "requirements.txt").write_text(f"nosuchpackage==3.2.1 --hash=sha256:{'0' * 64}\n")
    second = toy.directory.with_name("Toy-2")
    shutil.copytree(toy.directory, second)
    config = json.loads((second / "config.json").read_text())
    (second / "config.json").write_text(
        json.dumps(config | {"id": "Toy-2", "environment": "broken"})
    )
    return toy.session(python=None)


def records_in(toy):
    """The texts of the records of Toy-2, by path."""
    paths = (toy.results / "Toy-2").rglob("*-seed*.json")
    return {path: path.read_text() for path in paths}


def test_the_others_run_where_one_environment_cannot_be_built(toy, toy_environment, capsys):
    session = with_a_second_bug(toy)
    second, first = session.run(session.catalog.select(["Toy-2", "Toy-1"]))
    assert first.verdict.outcome == "REPRODUCED"
    assert second.verdict.outcome == "INVALID"
    assert {record.status for record in second.records} == {"environment broken"}
    assert "environment broken could not be built: " in second.verdict.reason
    lines = capsys.readouterr().err.splitlines()
    said = [line for line in lines if line.endswith("; its runs are INVALID, the others go on")]
    assert len(said) == 1


def test_it_is_built_once_and_again_by_the_next_command(toy, toy_environment, monkeypatch):
    session = with_a_second_bug(toy)
    requested = []
    get = session.runtimes.get

    def counted(name):
        requested.append(name)
        return get(name)

    monkeypatch.setattr(session.runtimes, "get", counted)
    session.run(session.catalog.select(["Toy-2", "Toy-1"]))
    assert requested.count("broken") == 1
    shutil.copy(toy_environment / "requirements.txt", toy.root / "environments" / "broken")
    again = toy.session(python=None)
    second, first = again.run(again.catalog.select(["Toy-2", "Toy-1"]))
    assert [second.verdict.outcome, first.verdict.outcome] == ["REPRODUCED", "REPRODUCED"]


def test_one_line_where_nothing_could_run(toy, toy_environment):
    session = with_a_second_bug(toy)
    with pytest.raises(
        UnbuiltError, match="environment broken could not be built: .*nosuchpackage"
    ):
        session.run(session.catalog.select(["Toy-2"]))
    assert not list(toy.results.glob("Toy-2/*"))


def test_good_records_stay_where_the_environment_has_gone(toy, toy_environment, monkeypatch):
    session = with_a_second_bug(toy)
    lock = toy.root / "environments" / "broken" / "requirements.txt"
    shutil.copy(toy_environment / "requirements.txt", lock)
    targets = session.catalog.select(["Toy-2", "Toy-1"])
    session.run(targets)
    good = records_in(toy)
    builder.remove(spec.load(toy.root, "broken"))
    monkeypatch.setenv("UV_FIND_LINKS", "")
    second, _ = toy.session(python=None).run(targets)
    assert second.verdict.outcome == "INVALID"
    assert good
    assert {path: path.read_text() for path in good} == good
