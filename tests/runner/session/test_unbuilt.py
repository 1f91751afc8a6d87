"""An environment that cannot be built ends the runs that need it, and no others."""

import platform
import shutil

import pytest
from support.environments import add_a_bug_without_environment
from support.wheels import lock as lock_text
from support.wheels import write_wheel

from runner.bugs.bug import ENVIRONMENT
from runner.environments import builder, spec
from runner.errors import UnbuiltError
from runner.session.session import run_targets


def run(toy, *names):
    """The outcomes of bugs, by the names of the bugs."""
    session = toy.session(python=None)
    targets = session.catalog.select(names)
    outcomes = run_targets(session.catalog, targets, session.options, session.progress)
    return {outcome.target.bug.id: outcome for outcome in outcomes}


def records_in(toy):
    """The texts of the records of Toy-2, by path."""
    paths = (toy.results / "Toy-2").rglob("*-seed*.json")
    return {path: path.read_text() for path in paths}


def test_the_others_run_where_one_environment_cannot_be_built(toy, toy_environment, capsys):
    add_a_bug_without_environment(toy)
    outcomes = run(toy, "Toy-2", "Toy-1")
    assert outcomes["Toy-1"].verdict.outcome == "REPRODUCED"
    assert outcomes["Toy-2"].verdict.outcome == "INVALID"
    assert {record.status for record in outcomes["Toy-2"].records} == {"environment broken"}
    assert "environment broken could not be built: " in outcomes["Toy-2"].verdict.reason
    lines = capsys.readouterr().err.splitlines()
    notes = [line for line in lines if line.endswith("; its runs are INVALID, the others go on")]
    assert len(notes) == 1


def test_it_is_tried_once_and_again_by_the_next_command(toy, toy_environment, monkeypatch):
    add_a_bug_without_environment(toy)
    tried = []
    build = builder.build

    def counted(environment, *arguments, **options):
        tried.append(environment.name)
        return build(environment, *arguments, **options)

    monkeypatch.setattr(builder, "build", counted)
    run(toy, "Toy-2", "Toy-1")
    assert sorted(tried) == ["broken", "toy"]
    lock = toy.root / "environments" / "broken" / "requirements.txt"
    shutil.copy(toy_environment / "requirements.txt", lock)
    outcomes = run(toy, "Toy-2", "Toy-1")
    assert {outcome.verdict.outcome for outcome in outcomes.values()} == {"REPRODUCED"}


def test_one_line_where_nothing_could_run(toy, toy_environment):
    add_a_bug_without_environment(toy)
    lack = "environment broken could not be built: .*nosuchpackage"
    with pytest.raises(UnbuiltError, match=lack):
        run(toy, "Toy-2")
    lock = toy_environment / "requirements.txt"
    shutil.copy(toy.root / "environments" / "broken" / "requirements.txt", lock)
    with pytest.raises(UnbuiltError, match="could not be built: .*nosuchpackage"):
        run(toy, "Toy-2", "Toy-1")
    assert not list(toy.results.glob("Toy-*"))


def test_a_torch_that_cannot_be_imported_ends_its_own_runs(toy, toy_environment, wheelhouse):
    add_a_bug_without_environment(toy)
    text = {"torch/__init__.py": "raise ImportError('libcudart.so: cannot open')\n"}
    wheel = write_wheel(wheelhouse, "torch", text)
    lock = toy.root / "environments" / "broken" / "requirements.txt"
    lock.write_text(lock_text(wheel))
    outcomes = run(toy, "Toy-2", "Toy-1")
    assert outcomes["Toy-1"].verdict.outcome == "REPRODUCED"
    reason = outcomes["Toy-2"].verdict.reason
    assert "environment broken cannot be used: " in reason
    assert "libcudart.so: cannot open" in reason


@pytest.mark.parametrize("version", ["3.11", "full"])
def test_good_records_stay_where_the_environment_has_gone(
    toy, toy_environment, monkeypatch, version
):
    add_a_bug_without_environment(toy)
    folder = toy.root / "environments" / "broken"
    shutil.copy(toy_environment / "requirements.txt", folder / "requirements.txt")
    if version == "full":
        (folder / ".python-version").write_text(platform.python_version() + "\n")
    run(toy, "Toy-2", "Toy-1")
    good = records_in(toy)
    builder.remove(spec.load(toy.root, "broken"))
    monkeypatch.setenv("UV_FIND_LINKS", "")
    assert run(toy, "Toy-2", "Toy-1")["Toy-2"].verdict.outcome == "INVALID"
    assert good
    assert {path: path.read_text() for path in good} == good


def test_an_environment_that_a_bug_brings(toy, toy_environment):
    add_a_bug_without_environment(toy)
    second = toy.directory.with_name("Toy-2")
    shutil.move(toy.root / "environments" / "broken", second / ENVIRONMENT)
    config = second / "config.json"
    config.write_text(config.read_text().replace('"broken"', f'"./{ENVIRONMENT}"'))
    outcomes = run(toy, "Toy-1", "Toy-2")
    assert outcomes["Toy-1"].verdict.outcome == "REPRODUCED"
    assert outcomes["Toy-2"].verdict.outcome == "INVALID"


def test_other_commands_end_with_its_line(toy, toy_environment):
    """A study, a repair or a detector would take an INVALID run for an answer."""
    add_a_bug_without_environment(toy)
    session = toy.session(python=None)
    targets = session.catalog.select(["Toy-1", "Toy-2"])
    with pytest.raises(UnbuiltError):
        session.plan(targets[1])
    with pytest.raises(UnbuiltError):
        session.run(targets)
