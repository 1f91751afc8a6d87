"""Environments: built whole or not at all, once, from a hashed lock; real uv and a real venv with a
toy package.
"""

import dataclasses
import io
import shutil
import signal
import subprocess
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from support.copies import replace
from support.environments import QUIET, load
from support.isolated import isolated_by
from support.paths import ROOT
from support.records import as_pinned
from support.toy import PYTHON

from runner.environments import builder, check, install, interpreter, runtime, spec, supported
from runner.environments.interpreter import probe
from runner.errors import CatalogError, EnvironmentBuildError, UsageError
from runner.progress.lines import Progress
from runner.results.record import RunRecord
from runner.sandbox import landlock
from runner.session.promote import promote_runs

BUILD = """
import sys
from pathlib import Path
from runner.environments import builder, spec
from runner.progress.lines import Progress
builder.build(spec.load(Path(sys.argv[1]), "toy"), Progress(sys.stdout))
"""


def leftovers():
    directory = spec.cache_root() / "environments"
    names = {path.name for path in directory.iterdir()} if directory.exists() else set()
    return {name for name in names if not name.endswith(".lock")}


def test_build_find_check_remove(toy, toy_environment):
    described = load(toy)
    assert spec.find(described) is None
    output = io.StringIO()
    built = builder.build(described, Progress(output))
    assert "needs up to 0.0 GB of disk" in output.getvalue()
    assert spec.find(described) == built
    assert check.problems(built) == []
    assert probe(built.python).packages["toypackage"] == "1.0"
    assert leftovers() == {built.directory.name}
    again = io.StringIO()
    assert builder.build(described, Progress(again)) == built
    assert again.getvalue() == ""
    removed = builder.remove(described)
    assert removed is not None
    assert removed.freed_gb > 0
    assert spec.find(described) is None
    assert leftovers() == set()


def test_console_scripts_and_interpreter_survive_the_renaming(toy, toy_environment):
    built = builder.build(load(toy), QUIET)
    text = subprocess.run(
        [built.python, "-c", "import sys, toypackage; print(sys.prefix)"], capture_output=True
    )
    assert Path(text.stdout.decode().strip()) == built.directory


def test_another_lock_is_another_environment(toy, toy_environment):
    first = spec.location(load(toy))
    lock = toy_environment / "requirements.txt"
    lock.write_text(lock.read_text() + "# changed\n")
    assert spec.location(load(toy)) != first


def test_an_environment_that_was_changed_is_never_a_verdict(toy, toy_environment):
    """As by a `pip install` into it: the run would succeed, with another version than its record
    says.
    """
    assert toy.run(python=None).verdict.outcome == "REPRODUCED"
    installed = next(spec.find(load(toy)).directory.rglob("toypackage-1.0.dist-info"))
    installed.rename(installed.with_name("toypackage-2.0.dist-info"))
    outcome = toy.run(python=None)
    assert (outcome.verdict.outcome, outcome.records[0].status) == ("INVALID", "environment broken")
    assert "was changed: lib/" in outcome.verdict.reason
    assert "toypackage-2.0.dist-info was added (and " in outcome.verdict.reason
    assert "env build toy --force" in outcome.verdict.reason


@pytest.mark.parametrize(
    "name", ["numpy-1.26.4.egg-info", "numpy-1.26.4-py3.11.egg-info", "numpy-1.26.4.dist-info"]
)
def test_packages_of_an_interpreter(tmp_path, name):
    (tmp_path / name).mkdir()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert probe(python).packages["numpy"] == "1.26.4"


def test_remove_in_a_cache_that_cannot_be_written_is_one_line(toy, toy_environment, monkeypatch):
    builder.build(load(toy), QUIET)

    def refuse(*arguments, **options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(builder.tempfile, "mkdtemp", refuse)
    words = (
        r"environment toy: .*/environments cannot be written: Read-only file system; name a folder"
    )
    with pytest.raises(EnvironmentBuildError, match=words):
        builder.remove(load(toy))


def test_remove_clears_what_killed_builds_left(toy, toy_environment):
    target = spec.location(load(toy))
    scratch = target.with_name(f".{target.name}.abcdefgh")
    (scratch / "venv").mkdir(parents=True)
    assert builder.remove(load(toy)) is None
    assert not scratch.exists()


def test_what_is_broken_is_found(toy, toy_environment):
    """Also what was wrong already when the environment was built, as by a failed import of
    torch.
    """
    built = builder.build(load(toy), QUIET)
    described = dataclasses.replace(built.environment, pins={"toypackage": "2.0", "torch": "2.2.2"})
    assert check.problems(dataclasses.replace(built, environment=described)) == [
        "toypackage is 1.0, expected 2.0",
        "torch is missing, expected 2.2.2",
        "imported torch is None, expected 2.2.2",
    ]
    built.python.unlink()
    assert check.problems(built) == ["bin/python is missing"]


def test_an_interpreter_that_has_gone_is_a_broken_environment_not_an_error(
    toy, toy_environment, monkeypatch
):
    """The link in the environment is as it was; what it leads to is not there any more."""
    link = toy.root / "python"
    link.symlink_to(Path(sys.base_prefix, "bin", f"python{PYTHON}"))
    monkeypatch.setattr(install, "_base_python", lambda environment: str(link))
    builder.build(load(toy), QUIET)
    link.unlink()
    outcome = toy.run(python=None)
    assert (outcome.verdict.outcome, outcome.records[0].status) == ("INVALID", "environment broken")
    assert f"its Python, {link}, is not on this machine" in outcome.verdict.reason
    assert "env build toy --force" in outcome.verdict.reason
    assert outcome.records[0].exit_code is None
    monkeypatch.setattr(runtime, "machine_has_accelerator", lambda: True)
    outcome = toy.run(python=None)
    assert (outcome.verdict.outcome, outcome.records[0].status) == ("INVALID", "environment broken")


def test_an_environment_that_a_run_breaks_is_the_reason_of_its_end(toy, toy_environment, unkept):
    text = (toy.directory / "buggy.py").read_text()
    toy.write(
        "buggy.py",
        f"import toypackage\nopen(toypackage.__file__, 'a').write('x')\n{text}raise "
        "SystemExit(1)\n",
    )
    outcome = toy.run(python=None)
    assert (outcome.verdict.outcome, outcome.records[0].status) == ("INVALID", "environment broken")
    assert (
        "toypackage/__init__.py was changed; `trainbugs env build toy --force`"
        in outcome.records[0].reason
    )


def test_a_record_of_a_pinned_run(toy, toy_environment):
    record = toy.run(python=None).records[0]
    assert (record.runtime.environment, record.runtime.pinned, record.lock) == (
        "toy",
        True,
        load(toy).lock_hash,
    )


def test_a_wrong_hash_is_refused_and_leaves_nothing(toy, toy_environment):
    lock = toy_environment / "requirements.txt"
    lock.write_text(lock.read_text().replace("sha256:", "sha256:0000")[:-5] + "\n")
    with pytest.raises(EnvironmentBuildError, match="toy could not be built: .*[Hh]ash") as caught:
        builder.build(load(toy), QUIET)
    assert "\n" not in str(caught.value)
    assert leftovers() == {"toy.log"}


def test_a_lock_without_a_hash_is_refused(toy, toy_environment):
    (toy_environment / "requirements.txt").write_text("toypackage==1.0\n")
    with pytest.raises(EnvironmentBuildError, match="toy could not be built: .*[Hh]ash"):
        builder.build(load(toy), QUIET)


def test_a_package_that_cannot_be_had_gives_one_line(toy, toy_environment):
    (toy_environment / "requirements.txt").write_text(
        f"nosuchpackage==3.2.1 --hash=sha256:{'0' * 64}\n"
    )
    with pytest.raises(EnvironmentBuildError, match="nosuchpackage.*toy.log") as caught:
        builder.build(load(toy), QUIET)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "system, machine, libc, said",
    [
        ("Darwin", "arm64", "", "Linux on x86-64, and this is Darwin on arm64; use such"),
        ("Linux", "aarch64", "glibc 2.39", "this is Linux on aarch64"),
        ("Linux", "x86_64", "glibc 2.17", "want glibc 2.28 or newer, and this is glibc 2.17"),
        ("Linux", "x86_64", None, "this is another C library"),
    ],
)
def test_a_machine_without_wheels_is_refused(
    toy, toy_environment, monkeypatch, system, machine, libc, said
):
    monkeypatch.setattr(supported.platform, "system", lambda: system)
    monkeypatch.setattr(supported.platform, "machine", lambda: machine)
    monkeypatch.setattr(supported.os, "confstr", lambda name: libc)
    with pytest.raises(EnvironmentBuildError) as caught:
        builder.build(load(toy), QUIET)
    assert said in str(caught.value)
    assert "toy cannot be built" in str(caught.value)
    assert "--python" in str(caught.value)


@pytest.mark.parametrize("libc", ["glibc 2.28", "glibc 2.36", "glibc 2.100"])
def test_a_machine_with_a_newer_libc_is_not(monkeypatch, libc):
    monkeypatch.setattr(supported.os, "confstr", lambda name: libc)
    assert supported.unsupported() is None


def test_no_disk_space(toy, toy_environment):
    (toy_environment / "environment.json").write_text('{"disk_gb": 1e9}')
    with pytest.raises(
        EnvironmentBuildError, match=r"needs 1000000000.0 GB of disk, .* GB free; make room"
    ):
        builder.build(load(toy), QUIET)
    assert leftovers() == set()


def test_a_cache_that_cannot_be_written(toy, toy_environment, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRAINBUGS_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(EnvironmentBuildError, match="environment toy: .*: Not a directory"):
        builder.build(load(toy), QUIET)


def test_two_at_once_build_once(toy, toy_environment):
    builders = [
        subprocess.Popen(
            [sys.executable, "-c", BUILD, str(toy.root)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    outputs = [builder.communicate(timeout=60)[0] for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0, 0]
    assert sum("built in" in text for text in outputs) == 1
    assert spec.find(load(toy)) is not None


def test_interrupted_build_leaves_nothing(toy, toy_environment, tmp_path):
    """The interrupt comes when everything is installed and nothing is in place yet."""
    ready = tmp_path / "ready"
    pause = (
        f"import time; builder._verify = lambda *_: (Path({str(ready)!r}).touch(), "
        "time.sleep(60))\n"
    )
    code = BUILD.replace("builder.build(", pause + "builder.build(")
    program = subprocess.Popen([sys.executable, "-c", code, str(toy.root)], stderr=subprocess.PIPE)
    end = time.monotonic() + 30
    while not ready.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert any(name.startswith(".toy-") for name in leftovers())
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=20)
    assert program.returncode != 0
    assert leftovers() == set()
    assert spec.find(load(toy)) is None
    assert check.problems(builder.build(load(toy), QUIET)) == []


def test_what_a_killed_build_left_behind_is_cleared(toy, toy_environment):
    target = spec.location(load(toy))
    scratch = target.with_name(f".{target.name}.abcdefgh")
    other = target.with_name(f".{target.name}-cpu.abcdefgh")
    for directory in (scratch, other):
        (directory / "venv").mkdir(parents=True)
    builder.build(load(toy), QUIET)
    assert other.exists()
    assert not scratch.exists()


def test_torch_backend_is_named_and_unpinned(toy, toy_environment, tmp_path):
    built = builder.build(load(toy), QUIET, backend="cpu")
    assert built.directory.name.endswith("-cpu")
    assert spec.find(load(toy)) == built
    record = toy.run(python=None).records[0]
    assert record.runtime.pinned is False
    assert record.status == "ok"


def test_a_failed_import_of_torch_is_broken(tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so.12: cannot open')")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with pytest.raises(EnvironmentBuildError, match="OSError: libcudart.so.12: cannot open"):
        probe(python)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("torch-2.2.1", "; of torch there are torch-2.0.1, torch-2.1.2, "),
        ("trch-2.2.2", " (did you mean torch-2.2.2"),
        ("x", "; `trainbugs env list` shows all"),
    ],
)
def test_an_unknown_environment_is_told_without_a_hundred_names(name, advice):
    with pytest.raises(UsageError) as caught:
        spec.load(ROOT, name)
    assert f"no environment '{name}'{advice}" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_unknown_and_malformed_environments(toy, toy_environment):
    with pytest.raises(UsageError, match="no environment 'toi'; expected one of toy"):
        spec.load(toy.root, "toi")
    (toy_environment / "environment.json").write_text('{"disk_gb": "5"}')
    with pytest.raises(CatalogError, match="disk_gb is '5', expected a number"):
        load(toy)
    (toy_environment / "environment.json").write_text('{"disk_gb": 5}')
    (toy_environment / ".python-version").unlink()
    with pytest.raises(CatalogError, match="toy: lacks .python-version; docs/"):
        load(toy)


def test_cuda_that_is_not_there(toy):
    with pytest.raises(UsageError, match="device cuda: .* has no torch; try --device cpu"):
        toy.run(device="cuda")


def test_expected_records_come_from_reproduced_pinned_runs_only(toy):
    outcome = toy.run()
    with pytest.raises(UsageError, match="stays as it is"):
        promote_runs([outcome])
    part = replace(outcome, records=outcome.records[:2])
    with pytest.raises(UsageError, match="not run with its own seeds"):
        promote_runs([as_pinned(part)])
    dirty = tuple(replace(r, revision="0123-dirty", pinned=True) for r in outcome.records)
    with pytest.raises(UsageError, match="files that are not committed"):
        promote_runs([replace(outcome, records=dirty)])
    failed = replace(outcome, verdict=replace(outcome.verdict, outcome="NOT REPRODUCED"))
    with pytest.raises(UsageError, match="only: NOT REPRODUCED; expected"):
        promote_runs([as_pinned(failed)])
    alone = toy.run("Toy-1/only/buggy")
    with pytest.raises(UsageError, match="only: no verdict: .*; expected REPRODUCED"):
        promote_runs([as_pinned(alone)])
    assert not toy.bug.expected.exists()
    written = promote_runs([as_pinned(outcome)])
    assert [path.name for path in written][:2] == ["buggy-seed0.json", "fixed-seed0.json"]
    assert isinstance(outcome.records[0], RunRecord)
    assert [path.name for path in toy.bug.expected.iterdir()] == ["only"]
    toy.configure(seeds=[0])
    promote_runs([as_pinned(toy.run())])
    assert sorted(path.name for path in toy.bug.expected.rglob("*.json")) == [
        "buggy-seed0.json",
        "fixed-seed0.json",
    ]


def test_of_several_bugs_each_is_kept_or_refused_by_itself(toy):
    good = as_pinned(toy.run())
    other = replace(toy.bug, id="Toy-2", directory=toy.directory.with_name("Toy-2"))
    shutil.copytree(toy.directory, other.directory)
    target = replace(good.target, bug=other)
    bad = replace(good, target=target, verdict=replace(good.verdict, outcome="NOT REPRODUCED"))
    refusals = []
    written = promote_runs([bad, good], refuse=refusals.append)
    assert len(written) == 4
    assert all(path.is_relative_to(toy.bug.expected) for path in written)
    (refusal,) = refusals
    assert "only: NOT REPRODUCED; expected REPRODUCED" in refusal
    assert not other.expected.exists()


def test_runs_elsewhere_are_never_expected_ones(toy, toy_environment):
    shutil.copytree(toy_environment, toy_environment.with_name("toy-2"))
    outcome = toy.run(python=None, environment="toy-2")
    assert outcome.verdict.outcome == "REPRODUCED"
    with pytest.raises(UsageError, match="Toy-1/only was run in toy-2: expected/ stays as it is"):
        promote_runs([outcome])
    assert '"toy-2"' in (toy.results / "Toy-1" / "only" / "verdict.json").read_text()


def test_a_python_that_holds_trainbugs_needs_namespaces(monkeypatch):
    """Without them its own modules could not be listed, as trainbugs lies among them."""
    if not landlock.version():
        pytest.skip("NOT RUN: no Landlock on this machine")
    library = Path(sys.executable).resolve().parent.with_name("lib")
    folders = (library / "python3.11" / "site-packages" / "trainbugs",)
    monkeypatch.setattr(interpreter, "our_folders", lambda: folders)
    with (
        isolated_by("landlock", monkeypatch),
        pytest.raises(EnvironmentBuildError, match="install trainbugs into a virtual environment"),
    ):
        probe(Path(sys.executable))
    with isolated_by("none", monkeypatch):
        assert probe(Path(sys.executable)).python


def test_the_environments_of_a_package_are_not_those_of_a_longer_name():
    """torch-geometric-2.3.0 is no release of torch."""
    named = [name for name in spec.names(ROOT) if name.startswith("torch-geometric-")]
    assert named
    assert not [name for name in named if fnmatchcase(name, spec.pattern_of("torch"))]
    assert [name for name in named if fnmatchcase(name, spec.pattern_of("torch-geometric"))]
    releases = spec.releases(ROOT, "torch")
    assert len(releases) == len(set(releases))
