"""Environments that bugs bring: a lock in a directory outside of the catalogue, built and checked
like the others.
"""

import json
import shutil

import pytest
from support.environments import QUIET
from support.toy import toy_config

from runner.authoring.validate import problems
from runner.bugs.catalog import load_bug
from runner.cluster import worker
from runner.environments import builder, spec
from runner.errors import CatalogError, EnvironmentBuildError
from runner.results.record import read_record


@pytest.fixture
def outside(toy, toy_environment, tmp_path):
    """A bug directory outside of the catalogue, which has no environments any more."""
    directory = tmp_path / "my" / "Mine-1"
    shutil.copytree(toy.directory, directory)
    config = toy_config(id="Mine-1", environment="./environment", seeds=[0])
    (directory / "config.json").write_text(json.dumps(config))
    shutil.move(toy_environment, directory / "environment")
    return directory


def test_it_is_built_run_and_in_the_key(toy, outside, cli):
    status, out, _ = cli("run", outside)
    assert status == 0
    assert "REPRODUCED" in out
    paths = sorted((outside.parents[1] / "results" / "Mine-1" / "only").glob("*-seed0-*.json"))
    records = [read_record(path) for path in paths]
    lock = spec.brought(load_bug(outside)).lock_hash
    assert {
        (record.runtime.environment, record.lock, record.runtime.pinned) for record in records
    } == {("bug-Mine-1", lock, True)}
    with (outside / "environment" / "requirements.txt").open("a") as file:
        file.write("# another lock\n")
    assert cli("run", outside)[0] == 0
    again = set((outside.parents[1] / "results" / "Mine-1" / "only").glob("*-seed0-*.json")) - set(
        paths
    )
    assert len(again) == 2
    assert {read_record(path).lock for path in again} == {spec.brought(load_bug(outside)).lock_hash}


def test_env_takes_the_directory_and_names_commands_that_work(outside, cli):
    status, out, _ = cli("env", "list", outside)
    assert status == 0
    assert "bug-Mine-1" in out
    assert f"no; `trainbugs env build {outside}`" in out
    assert f"not built; `trainbugs env build {outside}`" in cli("env", "check", outside)[1]
    assert ", no torch)\n" in cli("env", "build", outside)[1]
    assert cli("env", "check", outside)[:2] == (0, "bug-Mine-1: as its lock says\n")
    changed = next(
        spec.find(spec.brought(load_bug(outside))).directory.rglob("toypackage/__init__.py")
    )
    changed.write_text("value = 2\n")
    assert (
        f"`trainbugs env build {outside} --force` builds it anew" in cli("env", "check", outside)[1]
    )
    assert cli("env", "build", outside, "--force")[0] == 0
    assert cli("env", "remove", outside)[1].startswith("bug-Mine-1: removed")


def test_missing_files_are_named_together(outside, cli):
    (outside / "environment" / "environment.json").unlink()
    (outside / "environment" / ".python-version").unlink()
    status, _, err = cli("env", "build", outside)
    assert status == 2
    assert f"{outside / 'environment'}: lacks .python-version, environment.json; docs/" in err


def test_a_bug_without_one_says_where_it_runs(toy, toy_environment, cli):
    assert (
        "Toy-1 brings no environment, it runs in toy; name that one"
        in cli("env", "build", "Toy-1")[2]
    )
    assert "no environment 'nothing'; expected one of toy" in cli("env", "build", "nothing")[2]


def test_checkout_and_why_use_it(outside, cli):
    (outside / "why.py").write_text("import toypackage\nprint(toypackage.value)\n")
    assert (
        f"bug-Mine-1 is not built here (`trainbugs env build {outside}`)"
        in cli("checkout", outside, "copy")[2]
    )
    status, out, err = cli("why", outside)
    assert (status, out) == (0, "1\n"), err


def test_a_variant_may_name_it(toy, outside):
    config = toy_config(id="Mine-1", environment="toy")
    config["cases"]["only"]["variants"]["fixed"]["environment"] = "./environment"
    (outside / "config.json").write_text(json.dumps(config))
    bug = load_bug(outside)
    places = {name: variant.place for name, variant in bug.cases["only"].program.variants.items()}
    assert places == {"buggy": "toy", "fixed": str(outside / "environment")}
    assert bug.brought is None


def test_validate_judges_its_records_by_its_lock(outside, toy, cli):
    assert cli("run", outside, "--record-only")[0] == 0
    expected = outside / "expected" / "only"
    expected.mkdir(parents=True)
    for path in (outside.parents[1] / "results" / "Mine-1" / "only").glob("*-seed0-*.json"):
        shutil.copy(path, expected / f"{path.name.rsplit('-', 1)[0]}.json")
    assert problems(outside, toy.root) == []
    with (outside / "environment" / "requirements.txt").open("a") as file:
        file.write("# another lock\n")
    assert any("another lock" in problem for problem in problems(outside, toy.root))
    shutil.rmtree(outside / "environment")
    assert any(
        "/environment: lacks requirements.txt, " in problem
        for problem in problems(outside, toy.root)
    )


def test_a_worker_finds_it_by_its_folder(outside, toy):
    where = worker.Where(toy.root, "cpu", None)
    (toy.root / "environments").mkdir(exist_ok=True)
    assert worker.find_runtime(where, str(outside / "environment")).environment == "bug-Mine-1"


HASH = "--hash=sha256:" + "0" * 64


@pytest.mark.parametrize(
    "text",
    ["--index-url https://example.org", "-r /etc/passwd", "-e .", "./package", "# x \\\n--index-url https://example.org",
     "a @ https://example.org/a.whl "
     "" + HASH, f"a==1 {HASH} --no-binary :all:", "a==1 ; x --index-url y",
     "a>=1 " + HASH, f"a==1 \\\n    {HASH} --index-url y", "https://example.org/a.whl"],
)  # fmt: skip
def test_a_lock_from_anywhere_says_only_which_wheels_to_install(outside, text):
    (outside / "environment" / "requirements.txt").write_text(text + "\n")
    with pytest.raises(
        CatalogError, match="environment/requirements.txt: .* is no pin with hashes; expected what"
    ):
        spec.brought(load_bug(outside))


def test_what_locks_may_say(outside):
    pin = (
        f"a==1.0+cpu ; python_version >= '3.11' and (os_name == 'posix') \\\n    {HASH} \\\n    "
        f"{HASH}\n  # via b\n"
    )
    (outside / "environment" / "requirements.txt").write_text(pin)
    assert spec.brought(load_bug(outside)).pins == {"a": "1.0+cpu"}


def test_a_python_from_anywhere_is_a_number(outside):
    (outside / "environment" / ".python-version").write_text("/tmp/python\n")
    with pytest.raises(
        CatalogError, match="python-version: is '/tmp/python', expected a number like 3.11"
    ):
        spec.brought(load_bug(outside))


def test_a_link_out_of_the_directory_is_refused(outside, tmp_path):
    lock = outside / "environment" / "requirements.txt"
    (tmp_path / "elsewhere").write_text(lock.read_text())
    lock.unlink()
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CatalogError, match="requirements.txt"):
        spec.brought(load_bug(outside))


def test_nothing_is_built_from_sources(outside, wheelhouse, monkeypatch):
    calls = []

    def uv(self, arguments):
        calls.append(arguments)
        if arguments[0] == "pip":
            raise EnvironmentBuildError("enough")

    monkeypatch.setattr("runner.environments.install.Installation._uv", uv)
    with pytest.raises(EnvironmentBuildError, match="enough"):
        builder.build(spec.brought(load_bug(outside)), QUIET)
    assert "--no-build" in calls[1]


def test_a_name_that_is_too_long_is_refused(outside):
    config = toy_config(id="M" * 77, environment="./environment")
    (outside / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        CatalogError, match="id: has 77 characters, expected at most 76 beside ./environment"
    ):
        load_bug(outside)
    (outside / "config.json").write_text(json.dumps(config | {"environment": "./other"}))
    with pytest.raises(CatalogError, match="environment: is './other'"):
        load_bug(outside)
