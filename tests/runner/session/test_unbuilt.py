"""An environment that cannot be built ends the runs that need it, and no others."""

import shutil

import pytest
from support.environments import add_a_bug_without_environment

from runner.environments import builder, spec
from runner.errors import UnbuiltError


def records_in(toy):
    """The texts of the records of Toy-2, by path."""
    paths = (toy.results / "Toy-2").rglob("*-seed*.json")
    return {path: path.read_text() for path in paths}


def test_the_others_run_where_one_environment_cannot_be_built(toy, toy_environment, capsys):
    add_a_bug_without_environment(toy)
    session = toy.session(python=None)
    second, first = session.run(session.catalog.select(["Toy-2", "Toy-1"]))
    assert first.verdict.outcome == "REPRODUCED"
    assert second.verdict.outcome == "INVALID"
    assert {record.status for record in second.records} == {"environment broken"}
    assert "environment broken could not be built: " in second.verdict.reason
    lines = capsys.readouterr().err.splitlines()
    said = [line for line in lines if line.endswith("; its runs are INVALID, the others go on")]
    assert len(said) == 1


def test_it_is_built_once_and_again_by_the_next_command(toy, toy_environment, monkeypatch):
    add_a_bug_without_environment(toy)
    session = toy.session(python=None)
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
    add_a_bug_without_environment(toy)
    session = toy.session(python=None)
    with pytest.raises(
        UnbuiltError, match="environment broken could not be built: .*nosuchpackage"
    ):
        session.run(session.catalog.select(["Toy-2"]))
    assert not list(toy.results.glob("Toy-2/*"))


def test_good_records_stay_where_the_environment_has_gone(toy, toy_environment, monkeypatch):
    add_a_bug_without_environment(toy)
    session = toy.session(python=None)
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
