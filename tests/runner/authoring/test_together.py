"""Committed records that do not belong together: of several commits, with gaps; none is promoted,
none is valid.
"""

import shutil

import pytest
from support.copies import replace
from support.records import as_pinned
from support.toy import alone

from runner.authoring.validate import problems
from runner.bugs.labels import Versions
from runner.errors import UsageError
from runner.results.expected import version_records
from runner.session.promote import promote_runs, promote_versions
from runner.session.version_sweep import BugVersions

OLD, NEW = "1" * 40, "2" * 40


def at(records, *revisions):
    """The records, each at its commit, the last one for all that are left."""
    commits = [*revisions, *[revisions[-1]] * len(records)]
    return tuple(replace(record, revision=commits[number]) for number, record in enumerate(records))


@pytest.fixture
def outcome(toy, toy_environment):
    return as_pinned(toy.run())


def test_records_of_a_case_are_of_one_commit(toy, outcome):
    promote_runs([replace(outcome, records=at(outcome.records, OLD))])
    assert problems(toy.directory, toy.root) == []
    older = toy.root / "older"
    shutil.copytree(toy.bug.expected, older)
    promote_runs([replace(outcome, records=at(outcome.records, NEW))])
    shutil.copy(older / "only" / "fixed-seed1.json", toy.bug.expected / "only")
    assert problems(toy.directory, toy.root) == [
        "expected/only: its records are of several commits (111111111111, 222222222222); "
        "`trainbugs run Toy-1 --force --update-expected` makes them anew"
    ]


def test_records_of_several_commits_are_not_promoted(toy, outcome):
    with pytest.raises(
        UsageError, match="Toy-1/only was run at several commits: .* run with --force"
    ):
        promote_runs([replace(outcome, records=at(outcome.records, OLD, NEW))])
    assert not toy.bug.expected.exists()


@pytest.fixture
def sweep(toy, toy_environment):
    """A map of two environments of a case with two seeds."""
    alone(toy)
    records = toy.run(seeds=(0, 1)).records[::2]
    records = [
        replace(record, pinned=True, environment=name)
        for name in ("toy-1", "toy-2")
        for record in records
    ]
    return BugVersions(toy.bug, (), at(records, OLD))


def gaps(toy):
    return [
        problem
        for problem in problems(toy.directory, toy.root)
        if "lacks" in problem or "several" in problem
    ]


def test_a_map_without_some_of_its_records_is_refused(toy, sweep, monkeypatch):
    monkeypatch.setattr("runner.authoring.validate.is_current", lambda *_: True)
    promote_versions(sweep)
    assert len(version_records(toy.bug)) == 4
    assert gaps(toy) == []
    again = "`trainbugs versions Toy-1 --force --update-expected`"
    (toy.bug.expected / "versions" / "toy-2" / "only" / "buggy-seed1.json").unlink()
    assert gaps(toy) == [
        f"expected/versions/toy-2 lacks only, seed 1, which others have; {again} makes it"
    ]
    promote_versions(replace(sweep, records=at(sweep.records, OLD, OLD, NEW)))
    assert gaps(toy) == []
    with pytest.raises(
        UsageError, match="Toy-1 was run at several commits in one environment: run with --force"
    ):
        promote_versions(replace(sweep, records=at(sweep.records, OLD, NEW)))


def test_a_map_lacks_no_version_that_is_said_to_be_affected(toy, sweep, monkeypatch):
    monkeypatch.setattr("runner.authoring.validate.is_current", lambda *_: True)
    promote_versions(sweep)
    bug = replace(toy.bug, affected=Versions(package="torch", versions=("9.9.9",)))
    monkeypatch.setattr("runner.authoring.validate.load_bug", lambda directory: bug)
    reports = [problem for problem in problems(toy.directory, toy.root) if "9.9.9" in problem]
    assert reports == [
        "config.json: affected names 9.9.9, and expected/versions has no record of it; "
        "`trainbugs versions Toy-1 --force --update-expected` makes one"
    ]
