"""An environment that another user may change is refused, unless the user trusts it, and the record
says so.
"""

import json
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from support.detectors import write_detector
from support.environments import QUIET
from support.toy import PYTHON

from evaluation.catalog import detectors
from evaluation.running import adapter
from runner.environments import builder, owner, spec
from runner.errors import EnvironmentBuildError
from runner.results.record import read_record
from runner.session.options import Options
from runner.session.session import Session

SECOND = 1000
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT RUN: a second user, who is made by root"
)


def described(toy):
    return spec.load(toy.root, "toy")


@pytest.fixture
def built(toy, toy_environment):
    """The environment of the toy."""
    return builder.build(described(toy), QUIET)


def as_user(uid, call):
    """What `call` returns, a text, in a child that is that user."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            answer = str(call())
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writes, answer.encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as file:
        answer = file.read()
    os.waitpid(child, 0)
    return answer


@contextmanager
def umask(value):
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def test_what_one_has_built_is_ones_own(built):
    assert owner.problem(built) is None
    assert not owner.needs_trust(built, trust=False)


# What is given to another user, or may be written to by one.
PARTS = {
    "the cache": lambda built: spec.cache_root(),
    "its folder of environments": lambda built: built.directory.parent,
    "the environment": lambda built: built.directory,
    "a folder of it": lambda built: next(
        built.directory.glob("lib/python*/site-packages/toypackage")
    ),
    "its folder of programs": lambda built: built.directory / "bin",
    "its manifest": lambda built: built.directory / "manifest.jsonl",
    "its description": lambda built: built.directory / "trainbugs.json",
}


@needs_root
@pytest.mark.parametrize("name", PARTS)
def test_what_belongs_to_another_user_is_refused(built, name):
    path = PARTS[name](built)
    os.chown(path, SECOND, SECOND)
    with pytest.raises(EnvironmentBuildError) as error:
        owner.needs_trust(built, trust=False)
    words = str(error.value)
    assert words.startswith(f"environment toy: {path} belongs to ")
    assert "\n" not in words
    assert "expected root: they may change what you run" in words
    assert "TRAINBUGS_CACHE" in words
    assert "--trust-environments" in words
    assert owner.needs_trust(built, trust=True)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("mode, writers", [(0o002, "everybody"), (0o020, "group ")])
def test_what_others_may_write_to_is_refused(built, name, mode, writers, monkeypatch):
    monkeypatch.setattr(owner, "_is_private", lambda gid: False)
    path = PARTS[name](built)
    path.chmod(stat.S_IMODE(path.stat().st_mode) | mode)
    words = owner.problem(built)
    assert words.startswith(f"environment toy: {path} may be written to by {writers}")
    assert "`chmod go-w` it" in words


def test_all_folders_are_looked_at_by_env_check_alone(built, cli):
    """That takes as long as a start; down to the packages they are looked at always."""
    deep = next(built.directory.glob("lib/python*/site-packages/toypackage")) / "deep"
    deep.mkdir()
    deep.chmod(0o777)
    assert owner.problem(built) is None
    status, out, _ = cli("env", "check", "toy")
    assert status == 2
    assert f"{deep} may be written to by everybody" in out


def test_a_group_that_a_user_has_alone_may_write(built):
    """Many systems make files so; root's group is one, too."""
    built.directory.chmod(0o775)
    private = built.directory.stat().st_gid
    expected = owner._is_private(private)
    assert (owner.problem(built) is None) == expected
    assert not owner._is_private(54321)


def test_a_folder_above_the_cache_in_which_others_may_rename_is_refused(
    built, tmp_path, monkeypatch
):
    tmp_path.chmod(0o777)
    assert owner.problem(built).startswith(
        f"environment toy: {tmp_path} may be written to by everybody"
    )
    tmp_path.chmod(0o1777)
    assert owner.problem(built) is None


@pytest.fixture
def python_elsewhere(built, tmp_path):
    """The environment with an interpreter in a folder of its own, to which two links lead."""
    place = tmp_path / "python" / "bin"
    place.mkdir(parents=True)
    real = Path(os.path.realpath(built.python))
    (place / "real").write_bytes(b"")
    (place / "real").chmod(0o755)
    (tmp_path / "between").mkdir()
    (tmp_path / "between" / "python").symlink_to(place / "real")
    built.python.unlink()
    built.python.symlink_to(tmp_path / "between" / "python")
    assert real.exists()
    return built, tmp_path


@needs_root
@pytest.mark.parametrize("part", ["python/bin/real", "python/bin", "python"])
def test_an_interpreter_of_another_user_is_refused(python_elsewhere, part):
    built, folder = python_elsewhere
    assert owner.problem(built) is None
    os.chown(folder / part, SECOND, SECOND)
    assert owner.problem(built).startswith(f"environment toy: {folder / part} belongs to ")


@pytest.mark.parametrize("part", ["between", "python", "python/bin", "python/bin/real"])
def test_an_interpreter_that_others_may_replace_is_refused(python_elsewhere, part):
    built, folder = python_elsewhere
    assert owner.problem(built) is None
    (folder / part).chmod(0o777)
    assert owner.problem(built).startswith(
        f"environment toy: {folder / part} may be written to by everybody"
    )


def test_the_interpreter_that_runs_trainbugs_is_trusted_already(python_elsewhere, monkeypatch):
    """Some machines that run tests let everybody write to the folder of their Pythons."""
    built, folder = python_elsewhere
    (folder / "python").chmod(0o777)
    monkeypatch.setattr("sys.executable", str(folder / "python" / "bin" / "real"))
    assert owner.problem(built) is None


@needs_root
def test_the_interpreter_of_another_user_is_not_executed(toy, built, cli, tmp_path):
    """Another user puts a program into the place of bin/python, and writes the manifest anew."""
    from runner.environments import manifest

    program = built.directory / "bin" / "mine"
    program.write_text(
        f"#!/bin/sh\ntouch '{tmp_path}/executed'\necho Python {built.python_version}\n"
    )
    program.chmod(0o755)
    built.python.unlink()
    built.python.symlink_to("mine")
    manifest.write(built.directory, {})
    for path in (built.directory, *built.directory.rglob("*")):
        os.lchown(path, SECOND, SECOND)
    for words in (("run", "Toy-1"), ("env", "check", "toy"), ("env", "build", "toy")):
        status, out, err = cli(*words)
        assert status == 2
        assert "belongs to" in out + err
        assert not (tmp_path / "executed").exists(), words
    toy.write("why.py", "print('because')")
    status, out, err = cli("why", "Toy-1")
    assert (status, out) == (2, "")
    assert "belongs to" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "executed").exists()


def records_of(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.rglob("*-seed*.json"))]


@needs_root
def test_one_may_trust_it_and_the_record_says_so(toy, built, cli, tmp_path):
    assert cli("run", "Toy-1", "--results", "own")[0] == 0
    assert all("trusted" not in record for record in records_of(tmp_path / "own"))
    os.chown(built.directory, SECOND, SECOND)
    status, out, err = cli("run", "Toy-1", "--results", "refused")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert not records_of(tmp_path / "refused")
    status, _, err = cli("run", "Toy-1", "--results", "trusted", "--trust-environments")
    assert status == 0, err
    records = records_of(tmp_path / "trusted")
    assert len(records) == 4
    assert all(record["trusted"] is True and record["pinned"] for record in records)
    status, _, err = cli(
        "run", "Toy-1", "--results", "trusted", "--trust-environments", "--update-expected"
    )
    assert status == 2
    assert "in a pinned environment" in err
    assert cli("env", "check", "toy", "--trust-environments")[:2] == (0, "toy: as its lock says\n")


@needs_root
def test_a_worker_refuses_it_too(toy, built):
    from runner.cluster import worker
    from runner.cluster.calls import UnfitError

    os.chown(built.directory, SECOND, SECOND)
    with pytest.raises(UnfitError) as refused:
        worker.find_runtime(worker.Where(toy.root, "cpu", None), "toy")
    with pytest.raises(EnvironmentBuildError, match=r"^worker \S+: .* belongs to"):
        refused.value.outcome()
    assert worker.find_runtime(worker.Where(toy.root, "cpu", None, trust=True), "toy").trusted


def test_a_session_tells_its_workers(toy):
    class Cluster:
        threads = 1

    session = Session(toy.catalog, Options(trust_environments=True), QUIET, cast(Any, Cluster()))
    assert session.remote[1].trust


@needs_root
def test_the_environment_of_a_detector_is_refused_too(toy, toy_environment, cli, tmp_path):
    folder = write_detector(tmp_path / "mine", "main(lambda target, state: {'alarms': []})")
    for name in ("requirements.txt", ".python-version", "environment.json"):
        (folder / name).write_text((toy_environment / name).read_text())
    built = builder.obtain(adapter.environment_of(detectors.read(folder)), QUIET)
    os.chown(built.directory, SECOND, SECOND)
    words = ("evaluate", "--detector", folder, "--bugs", toy.directory, "--controls", "none")
    status, _, err = cli(*words)
    assert status == 2
    assert "environment detector-mine: " in err
    assert "belongs to" in err
    status, _, err = cli(*words, "--trust-environments")
    assert status == 0, err
    checks = [
        json.loads(path.read_text())
        for path in (tmp_path / "results" / "detectors").rglob("buggy-0.json")
    ]
    assert [check["trusted"] for check in checks] == [True]


@needs_root
def test_nothing_is_built_into_a_cache_of_another_user(toy, toy_environment):
    root = spec.cache_root()
    (root / "environments").mkdir(parents=True)
    os.chown(root, SECOND, SECOND)
    with pytest.raises(EnvironmentBuildError, match=f"{root} belongs to .*expected root"):
        builder.build(described(toy), QUIET)
    assert not list((root / "environments").glob("toy-*"))
    assert builder.build(described(toy), QUIET, trust=True).directory.is_dir()


@pytest.fixture
def public(toy, shared, monkeypatch):
    """A cache that every user may read, with a build of root's in it whose interpreter is one of
    the system.
    """
    shared.chmod(0o755)
    built = spec.Built(
        spec.Environment("toy", shared, PYTHON, 0, "0" * 64, {}),
        shared / "cache" / "toy",
        None,
        PYTHON,
        None,
    )
    (built.directory / "bin").mkdir(parents=True)
    for name in ("manifest.jsonl", "trainbugs.json"):
        (built.directory / name).write_text("")
    (shared / "home" / "bin").mkdir(parents=True)
    (shared / "home" / "bin" / "python").write_text("")
    (shared / "home" / "bin" / "python").chmod(0o755)
    built.python.symlink_to(shared / "home" / "bin" / "python")
    monkeypatch.setenv("TRAINBUGS_CACHE", str(shared / "cache"))
    return built


def refusal(built, trust=False):
    try:
        owner.needs_trust(built, trust)
    except EnvironmentBuildError as error:
        return str(error)
    return "none"


@needs_root
def test_another_user_may_use_what_root_has_built_and_not_what_a_third_one_has(public):
    assert as_user(SECOND, lambda: refusal(public)) == "none"
    os.chown(public.directory, SECOND, SECOND)
    assert as_user(SECOND, lambda: refusal(public)) == "none"
    words = as_user(SECOND + 1, lambda: refusal(public))
    assert f"{public.directory} belongs to" in words
    assert "expected user 1001 (you) or root" in words or "(you) or root" in words


@needs_root
def test_an_interpreter_in_the_home_of_its_builder_is_named(public, shared):
    """Row 8 of what users met: it was told as a change, and as a reason to build anew."""
    (shared / "home").chmod(0o700)
    words = as_user(SECOND, lambda: refusal(public, trust=True))
    assert f"its interpreter {shared}/home/bin/python lies where you may not execute it" in words
    assert "TRAINBUGS_CACHE" in words
    assert "changed" not in words
    assert "--force" not in words
    assert as_user(0, lambda: refusal(public, trust=True)) == "none"


@pytest.mark.parametrize("value", [0o000, 0o002, 0o022, 0o077])
def test_modes_whatever_the_umask(toy, toy_environment, cli, tmp_path, value):
    """Nobody but their owner may write to a cache; results have the modes of the user's umask."""
    with umask(value):
        status, _, err = cli("run", "Toy-1")
    assert status == 0, err
    cache, results = spec.cache_root(), tmp_path / "results"
    inside = [path for path in (cache, *cache.rglob("*")) if not path.is_symlink()]
    assert not [path for path in inside if path.stat().st_mode & 0o022]
    for path in (results, *results.rglob("*")):
        full = 0o777 if path.is_dir() else 0o666
        assert stat.S_IMODE(path.stat().st_mode) == full & ~value, path
    assert owner.problem(spec.find(described(toy))) is None
    assert read_record(next(results.rglob("*-seed0-*.json"))).ok


def test_where_the_cache_cannot_be_written_its_variable_is_named(
    toy, toy_environment, cli, tmp_path, monkeypatch
):
    monkeypatch.delenv("TRAINBUGS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    status, out, err = cli("run", "Toy-1")
    assert (status, out) == (2, "")
    # First what the runs will take.
    forecast, error = err.splitlines()
    assert "1 environment to build first" in forecast
    assert "file/.cache/trainbugs/environments cannot be written" in error
    assert "name a folder of yours in TRAINBUGS_CACHE" in error
