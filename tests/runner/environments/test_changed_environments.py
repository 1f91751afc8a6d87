"""Environments that were changed after their build: no run in them has a verdict, and a rebuild
takes nothing of it.
"""

import dataclasses
import io
import json
import marshal
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from support.environments import QUIET, load
from support.paths import ROOT
from support.toy import PYTHON
from support.wheels import lock, write_wheel

from evaluation.catalog import detectors
from evaluation.running import adapter
from runner.environments import builder, check, install, manifest, spec
from runner.errors import EnvironmentBuildError
from runner.progress.lines import Progress

SITE = f"lib/python{PYTHON}/site-packages"
ADAM = f"{SITE}/toypackage/__init__.py"
TAG = sys.implementation.cache_tag
CHECK = ("env", "check", "toy")
BASE = Path(sys.base_prefix, "bin", f"python{PYTHON}")


@pytest.fixture
def built(toy, toy_environment):
    """The environment of the toy, whose scripts import its package."""
    for name in ("buggy.py", "fixed.py"):
        toy.write(name, f"import toypackage\n{(toy.directory / name).read_text()}")
    return builder.build(load(toy), QUIET)


def site(built) -> Path:
    return built.directory / SITE


def edit(path, text):
    """Write into the file in place, and set its old time back."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def invalid(toy, words):
    """Assert that nothing runs in the environment, for that reason."""
    outcome = toy.run(python=None)
    assert (outcome.verdict.outcome, outcome.records[0].status) == ("INVALID", "environment broken")
    reason = outcome.records[0].reason
    assert words in reason
    assert reason.endswith("`trainbugs env build toy --force` builds it anew")


def test_a_program_that_writes_a_pth_into_its_environment_spoils_later_runs(
    toy, built, cli, unkept
):
    """Until it is built anew; what the file does is not done, neither by a run nor by a check."""
    evil = f"open({str(toy.root / 'evil')!r}, 'a')"
    text = (
        "import os, site\nopen(site.getsitepackages()[0] + '/evil.pth', "
        f"'w').write({f'import os; {evil}'!r})\n"
    )
    toy.write("buggy.py", text + (toy.directory / "buggy.py").read_text())
    toy.session(python=None, seeds=[0]).records(toy.catalog.select(["Toy-1/only/buggy"]))
    invalid(toy, f"environment toy was changed: {SITE}/evil.pth was added; ")
    assert cli(*CHECK)[:2] == (
        2,
        f"toy: {SITE}/evil.pth was added; `trainbugs env build toy --force` builds it anew\n",
    )
    assert not (toy.root / "evil").exists()
    builder.build(load(toy), QUIET, force=True)
    assert cli(*CHECK)[:2] == (0, "toy: as its lock says\n")


def test_an_edited_module_is_no_verdict(toy, built):
    assert toy.run(python=None).verdict.outcome == "REPRODUCED"
    (built.directory / ADAM).write_text("value = 0.5\n")
    invalid(toy, f"environment toy was changed: {ADAM} was changed; ")


def test_what_keeps_size_and_time_is_found_by_a_check_only(toy, built, cli):
    """The manifest that is compared at the start of a session has sizes and times, `env check`
    reads the files.
    """
    edit(built.directory / ADAM, "value = 2\n")
    assert toy.run(python=None).verdict.outcome == "REPRODUCED"
    status, out, _ = cli(*CHECK)
    assert status == 2
    assert out.startswith(f"toy: {ADAM} has other contents; ")


def test_a_check_reads_bytecode_too(built, cli):
    (path,) = site(built).glob("toypackage/__pycache__/*.pyc")
    edit(path, "x" * path.stat().st_size)
    assert f"{path.name} has other contents" in cli(*CHECK)[1]


def test_a_check_does_not_trust_the_manifest_alone(built, cli):
    (built.directory / ADAM).write_text("value = 0.5\n")
    (site(built) / "evil.pth").touch()
    manifest.write(built.directory, {})
    out = cli(*CHECK)[1]
    assert f"{ADAM} is not what the RECORD of toypackage says" in out
    assert "evil.pth is in no wheel's RECORD" in out


def test_many_differences_are_counted(toy, built, cli):
    for number in range(9):
        (site(built) / f"{number}.pth").touch()
    out = cli(*CHECK)[1]
    assert out.count("was added") == 3
    assert "6 more differences" in out
    invalid(toy, "0.pth was added (and 8 more differences); ")


def test_another_interpreter_is_no_verdict(toy, built):
    built.python.unlink()
    built.python.symlink_to("/usr/bin/env")
    invalid(toy, "bin/python is a link to /usr/bin/env, expected a link to ")


def test_an_interpreter_that_was_upgraded_in_its_place_is_no_verdict(
    toy, toy_environment, cli, monkeypatch
):
    """The links in the environment are what they were."""
    base = toy.root / "python"
    base.symlink_to(BASE)
    monkeypatch.setattr(install, "_base_python", lambda environment: str(base))
    built = builder.build(load(toy), QUIET)
    other = toy.root / "other"
    other.write_text(f'#!/bin/sh\n[ "$1" = -V ] && echo Python 3.1.4 || exec {BASE} "$@"\n')
    other.chmod(0o755)
    other.replace(base)
    words = f"Python is 3.1.4, expected {built.python_version}, with which it was built"
    invalid(toy, words)
    assert words in cli(*CHECK)[1]


def test_a_description_is_a_part_of_the_environment(toy, built):
    path = built.directory / spec.DESCRIPTION
    path.write_text(path.read_text().replace('"backend": null', '"backend": "cpu"'))
    invalid(toy, "environment toy was changed: trainbugs.json was changed; ")


def test_why_does_not_answer_from_a_changed_environment(toy, built, cli):
    toy.write("why.py", "print('because')")
    assert cli("why", "Toy-1")[:2] == (0, "because\n")
    (site(built) / "evil.pth").touch()
    status, out, err = cli("why", "Toy-1")
    assert (status, out) == (
        2,
        "",
    )
    assert "evil.pth was added; `trainbugs env build toy --force`" in err


def test_a_detector_with_a_changed_environment_is_not_started(toy, toy_environment, tmp_path):
    directory = toy.root / "detectors" / "lint"
    toy_environment.rename(directory.parent.mkdir() or directory)
    text = json.loads((ROOT / "detectors" / "dslinter" / "detector.json").read_text()) | {
        "name": "lint"
    }
    (directory / "detector.json").write_text(json.dumps(text))
    (directory / text["adapter"]).touch()
    lint = detectors.read(directory)
    python = adapter.set_up(lint, (), None, QUIET, directory).python
    (python.parent / "evil").touch()
    with pytest.raises(
        EnvironmentBuildError,
        match="bin/evil was added; remove .*detector-lint-.*built anew",
    ):
        adapter.set_up(lint, (), None, QUIET, directory)


def test_bytecode_is_there_and_names_the_place_of_the_environment(
    toy, toy_environment, monkeypatch
):
    """It holds for a source of the same time and size, whatever the user's environment says."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(toy.root / "elsewhere"))
    built = builder.build(load(toy), QUIET)
    (path,) = site(built).glob("toypackage/__pycache__/*.pyc")
    data, source = path.read_bytes(), (built.directory / ADAM).stat()
    assert data[4:16] == struct.pack("<III", 0, int(source.st_mtime), source.st_size)
    assert marshal.loads(data[16:]).co_filename == str(built.directory / ADAM)


def test_programs_write_no_bytecode_into_an_environment(toy, built, cli):
    """Not even of a module that could not be compiled."""
    for path in site(built).glob("toypackage/__pycache__/*.pyc"):
        path.unlink()
    manifest.write(built.directory, {})
    assert toy.run(python=None).verdict.outcome == "REPRODUCED"
    assert cli(*CHECK)[0] == 0
    assert not list(site(built).glob("toypackage/__pycache__/*"))


# What an edit in an environment leaves in uv's cache


def test_a_rebuild_takes_no_edited_file_from_the_cache(toy, built, cli):
    path = built.directory / ADAM
    assert path.stat().st_nlink > 1
    path.write_text("value = 0.5\n")
    output = io.StringIO()
    again = builder.build(load(toy), Progress(output), force=True)
    assert (again.directory / ADAM).read_text() == "value = 1\n"
    assert cli(*CHECK)[0] == 0
    assert (
        f"{ADAM} is not what the RECORD of toypackage says: uv's cache may be damaged"
        in output.getvalue()
    )
    assert (
        "removing from uv's cache, which other projects use, too: toypackage" in output.getvalue()
    )
    mended = io.StringIO()
    builder.build(load(toy), Progress(mended), force=True)
    assert "RECORD" not in mended.getvalue()


def test_another_environment_takes_no_edited_file_from_the_cache(toy, built, toy_environment):
    (built.directory / ADAM).write_text("value = 0.5\n")
    text = (toy_environment / "requirements.txt").read_text()
    (toy_environment / "requirements.txt").write_text(f"# another lock\n{text}")
    assert (builder.build(load(toy), QUIET).directory / ADAM).read_text() == "value = 1\n"


def test_a_rebuild_takes_no_file_that_was_added_to_the_cache(toy, built, cli, tmp_path):
    (archive,) = (tmp_path / "uv" / "archive-v0").iterdir()
    (archive / "evil.pth").write_text("import evil")
    (archive / "toypackage" / "__pycache__").mkdir()
    (archive / "toypackage" / "__pycache__" / f"__init__.{TAG}.pyc").write_text("evil")
    output = io.StringIO()
    again = builder.build(load(toy), Progress(output), force=True)
    assert not (site(again) / "evil.pth").exists()
    assert cli(*CHECK)[0] == 0
    assert "evil.pth is in no wheel's RECORD (and 1 more)" in output.getvalue()
    assert len(list((tmp_path / "uv" / "archive-v0").iterdir())) == 0


def test_a_wheel_that_belies_its_own_record_is_installed_as_it_is(
    toy, toy_environment, wheelhouse, cli
):
    """Such wheels of torch were published; the lock names the wheel, not its RECORD."""
    files = {"odd/__init__.py": "value = 1\n", "odd/data.txt": "real"}
    odd = write_wheel(wheelhouse, "odd", files, claims={"odd/data.txt": "recorded"})
    (toy_environment / "requirements.txt").write_text(lock(odd, *wheelhouse.glob("toy*")))
    output = io.StringIO()
    built = builder.build(load(toy), Progress(output))
    assert (
        "odd/data.txt is not what the RECORD of odd says, so it is in the wheel, too"
        in output.getvalue()
    )
    assert "removing" not in output.getvalue()
    assert built.misrecorded == (f"{SITE}/odd/data.txt",)
    assert spec.find(load(toy)) == built
    assert cli(*CHECK)[0] == 0
    edit(built.directory / built.misrecorded[0], "evil")
    assert "odd/data.txt has other contents" in cli(*CHECK)[1]


def test_scripts_and_bytecode_of_wheels_are_right_as_uv_installs_them(
    toy, toy_environment, wheelhouse, cli
):
    """uv writes interpreters into scripts, and both into the RECORD; compiling replaces the
    bytecode of a wheel.
    """
    files = {
        "odd/__init__.py": "def main(): print('odd')\n",
        f"odd/__pycache__/__init__.{TAG}.pyc": "of another Python",
        "odd-1.0.data/scripts/odd-script": "#!python\nimport odd; odd.main()\n",
        "odd-1.0.data/data/share/man/odd.1": "manual",
        "odd-1.0.dist-info/entry_points.txt": "[console_scripts]\nodd = odd:main\n",
        "odd-old.pth": "import odd",
        "odd/python2.py": "print 'cannot be compiled'",
    }
    odd = write_wheel(wheelhouse, "odd", files)
    (toy_environment / "requirements.txt").write_text(lock(odd))
    output = io.StringIO()
    built = builder.build(load(toy), Progress(output))
    assert "RECORD" not in output.getvalue()
    assert cli(*CHECK)[0] == 0
    for script in ("odd", "odd-script"):
        assert (
            subprocess.run(
                [built.directory / "bin" / script], capture_output=True, text=True
            ).stdout
            == "odd\n"
        )
    assert cli(*CHECK)[0] == 0


# Builds of earlier versions


@pytest.mark.parametrize("backend", [None, "cpu"])
def test_a_build_without_a_manifest_is_built_anew(toy, toy_environment, cli, backend):
    built = builder.build(load(toy), QUIET, backend)
    (built.directory / manifest.MANIFEST).unlink()
    (site(built) / "evil.pth").touch()
    force = (
        f"`trainbugs env build toy{' --torch-backend cpu' if backend else ''} --force` builds it "
        "anew"
    )
    words = f"toy: built by an earlier trainbugs, without a manifest of its files; {force}\n"
    assert cli(*CHECK)[:2] == (2, words)
    output = io.StringIO()
    assert builder.obtain(load(toy), Progress(output)) == built
    assert output.getvalue().startswith(
        "environment toy: has no manifest of its files; an earlier trainbugs built it, or it was "
        "not copied whole\n"
    )
    assert not (site(built) / "evil.pth").exists()
    assert check.all_problems(built) == []
    assert toy.run(python=None).verdict.outcome == "REPRODUCED"


def test_a_backend_is_part_of_the_advice(built):
    other = dataclasses.replace(built, backend="cpu")
    assert other.remedy == "`trainbugs env build toy --torch-backend cpu --force` builds it anew"
