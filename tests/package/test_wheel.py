"""The package as it is installed: wheel and sdist, outside of any checkout,
with and without what is optional.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.checkout import copy_tracked, tracked
from support.paths import ROOT
from support.watching import Fake
from uv import find_uv_bin

pytestmark = pytest.mark.stress
DATA = ("bugs", "environments", "detectors")
SLIM = ("msgspec", "filelock", "packaging")


def uv(*arguments: str | Path) -> None:
    subprocess.run(
        [find_uv_bin(), "-q", *map(str, arguments)], check=True, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """A folder with the sdist, and the wheel that is built from it;
    bytecode and a stray file lay in the sources.
    """
    source, out = (tmp_path_factory.mktemp(name) for name in ("source", "dist"))
    copy_tracked(source)
    cache = source / "bugs" / "SO-60335387" / "__pycache__"
    cache.mkdir()
    (cache / "buggy.cpython-311.pyc").write_bytes(b"")
    uv(
        "build",
        "--no-build-isolation",
        "--offline",
        "--python",
        sys.executable,
        "--out-dir",
        out,
        source,
    )
    return out


def test_an_index_would_take_both(dist):
    files = sorted(map(str, dist.glob("trainbugs*")))
    assert len(files) == 2
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("PASSED") == 2


@dataclass(frozen=True)
class Installed:
    """An installation that knows nothing of the checkout,
    used from an empty folder inside of a repository.
    """

    command: tuple[str, ...]
    packages: Path
    python_path: Path
    folder: Path

    def call(self, *arguments: str | Path, status: int = 0) -> str:
        """Run `trainbugs ARGUMENTS`; returns its standard output,
        or with another status than 0 its errors.
        """
        env = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
        done = subprocess.run(
            [*self.command, *map(str, arguments)],
            cwd=self.folder, env=env | {"PYTHONPATH": str(self.python_path)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr if status else done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """An empty folder of a repository that has nothing to do with trainbugs."""
    root = tmp_path_factory.mktemp("repository")
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "theirs"], check=True)
    return root


@pytest.fixture(scope="module")
def installed(dist, repository) -> Installed:
    """The wheel in a new virtual environment; what it depends on is that of the tests,
    less the checkout.
    """
    venv = repository / "venv"
    uv("venv", "--python", sys.executable, venv)
    uv(
        "pip",
        "install",
        "--offline",
        "--no-deps",
        "--python",
        venv / "bin" / "python",
        *dist.glob("*.whl"),
    )
    packages = next(venv.glob("lib/python*/site-packages"))
    # Files *.pth of a folder in PYTHONPATH do not count, so an editable installation in it is not
    # seen.
    folder = repository / "work"
    folder.mkdir()
    return Installed(
        (str(venv / "bin" / "trainbugs"),), packages, Path(sysconfig.get_path("purelib")), folder
    )


@pytest.fixture(scope="module")
def slim(dist, repository) -> Installed:
    """The wheel and three packages in one folder that is only on the path,
    for an interpreter without anything else.
    """
    carried, folder = repository / "carried", repository / "bench"
    folder.mkdir()
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        wheel.extractall(carried)
    for name in SLIM:
        (carried / name).symlink_to(Path(sysconfig.get_path("purelib"), name))
    return Installed((sys.executable, "-S", "-m", "trainbugs"), carried, carried, folder)


def test_wheel_and_sdist_hold_the_catalogue_and_nothing_else(dist):
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        inside = {name for name in wheel.namelist() if not name.endswith("/")}
    folders = tuple(f"trainbugs/{folder}/" for folder in DATA)
    data = {name for name in inside if name.startswith(folders)}
    assert data == {f"trainbugs/{name}" for name in tracked(*DATA)}
    code = {name for name in inside - data if ".dist-info/" not in name}
    assert code == {
        name
        for name in tracked("runner", "evaluation", "plots", "trainbugs")
        if not (ROOT / name).is_dir()
    }
    assert {f"{name}/py.typed" for name in ("runner", "evaluation", "plots", "trainbugs")} <= code
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert data | code <= names


def test_every_command_works_outside_of_a_checkout(installed, repository):
    call, folder = installed.call, installed.folder
    ids = {path.parent.name for path in ROOT.glob("bugs/*/config.json")}
    assert {bug["id"] for bug in json.loads(call("list", "--json"))} == ids
    assert str(installed.packages / "trainbugs" / "bugs") in call("info", "SO-60335387")
    assert call("validate").count(": well formed") == len(ids)
    assert "gradient-cycle" in call("detectors")
    assert "torch-2.2.2" in call("env", "list")
    assert "api-sequence" in call("scores")
    assert (folder / "scores" / "matrix.png").is_file()
    call("figures", "PyTorch-115607")
    assert (folder / "figures" / "PyTorch-115607" / "compare_simple.png").is_file()
    call("checkout", "SO-60335387", "copy")
    assert (folder / "copy").is_dir()
    call("new", "PyTorch-1")
    assert (folder / "PyTorch-1" / "config.json").is_file()
    assert "TODO" in subprocess.run(
        [*installed.command, "validate", "PyTorch-1"], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(installed.python_path)},
    ).stdout  # fmt: skip
    assert (folder / "results").exists() is False


def test_revision_is_the_packages_not_the_surrounding_repositorys(installed):
    """This interpreter has no torch, so that the run is INVALID, which is a record as well."""
    installed.call(
        "run", "SO-60335387/digits", "--python", sys.executable, "--seeds", "0", status=2
    )
    records = [
        json.loads(path.read_text())
        for path in installed.folder.glob("results/*/digits/*-seed0-*.json")
    ]
    assert {record["revision"] for record in records} == {"trainbugs-1.0.0"}


def test_expected_records_of_an_installed_package_stay(installed):
    for command in (
        ("run", "SO-60335387"),
        ("versions", "SO-60335387"),
        ("evaluate", "--detector", "api-sequence"),
    ):
        line = installed.call(*command, "--update-expected", status=2)
        assert line.startswith("trainbugs: --update-expected needs a checkout: ")
        assert line.count("\n") == 1


def test_types_are_seen_from_outside(installed):
    script = installed.folder / "notebook.py"
    script.write_text("import trainbugs\n\nids: int = trainbugs.load().ids()\n")
    config = installed.folder / "mypy.ini"
    config.write_text("[mypy]\n")
    python = installed.packages.parents[2] / "bin" / "python"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, "--python-executable", python, script],
        cwd=installed.folder, capture_output=True, text=True,
    )  # fmt: skip
    assert 'has type "tuple[str, ...]"' in done.stdout
    assert "Found 1 error" in done.stdout


def test_slim_copy_watches_programs(slim, tmp_path):
    assert "stale-gradients" in slim.call("watch", "--list")
    fake = Fake(tmp_path / "fake")
    fake.leaves([{}])
    (slim.folder / "train.py").write_text("")
    assert "train.py:7" in slim.call("watch", "--python", fake.path, "train.py", status=1)
    monitor = fake.called()["launcher"][3]
    assert monitor == str(slim.packages / "trainbugs" / "detectors" / "sanitizer" / "monitor.py")
    assert Path(fake.called()["launcher"][0]).is_file()


def test_slim_copy_runs_bugs_and_says_what_the_rest_needs(slim, toy):
    table = slim.call("run", toy.directory, "--python", sys.executable)
    assert "Toy-1/only  REPRODUCED" in table
    assert "SO-60335387" in slim.call("list")
    assert "Toy-1/only/buggy" in slim.call("results")
    assert slim.call("results", "--csv", "-").startswith("schema,key,")
    for command in (
        ("scores",),
        ("figures", "SO-60335387"),
        ("run", toy.directory, "--figures"),
        (
            "evaluate",
            "--detector",
            "api-sequence",
            "--bugs",
            toy.directory,
            "--python",
            sys.executable,
        ),
    ):
        assert "is not installed; `pip install uv pandas matplotlib numpy` is enough" in slim.call(
            *command, status=2
        )
    assert "uv, which builds it, is not installed" in slim.call(
        "env", "build", "torch-2.2.2", status=2
    )


@pytest.mark.parametrize("name", ["runner", "plots", "evaluation"])
def test_module_that_hides_a_package_is_named(installed, name):
    """A runner.py beside a notebook: the folder of the notebook comes first on the path."""
    hiding = installed.folder / f"{name}.py"
    hiding.write_text("raise RuntimeError('not ours')\n")
    python = installed.packages.parents[2] / "bin" / "python"
    line = (
        f"{hiding} hides the package '{name}' of trainbugs: rename it, or start Python in another "
        "folder"
    )
    try:
        shadowed = Installed(
            (str(python), "-m", "trainbugs"),
            installed.packages,
            installed.python_path,
            installed.folder,
        )
        assert shadowed.call("list", status=2) == f"trainbugs: {line}\n"
        assert "SO-60335387" in installed.call("list")
        code = (
            "try:\n    import trainbugs\n    trainbugs.load()\nexcept ImportError as error:\n    "
            "print(error)"
        )
        notebook = Installed(
            (str(python), "-c", code), installed.packages, installed.python_path, installed.folder
        )
        assert notebook.call() == f"{line}\n"
    finally:
        hiding.unlink()


@pytest.mark.real
def test_bug_in_an_empty_environment(dist, tmp_path):
    """As a stranger does it: the wheel and what it depends on from the index,
    in a folder that holds nothing.
    """
    venv = tmp_path / "venv"
    uv("venv", "--python", sys.executable, venv)
    uv("pip", "install", "--python", venv / "bin" / "python", *dist.glob("*.whl"))
    work = tmp_path / "work"
    work.mkdir()
    fresh = Installed((str(venv / "bin" / "trainbugs"),), venv, tmp_path / "nothing", work)
    assert "REPRODUCED" in fresh.call("run", "PyTorch-115607/simple", "--figures")
    assert (work / "figures" / "PyTorch-115607" / "compare_simple.png").is_file()
    records = [
        json.loads(path.read_text())
        for path in work.glob("results/PyTorch-115607/simple/*-seed0-*.json")
    ]
    assert {(record["revision"], record["status"]) for record in records} == {
        ("trainbugs-1.0.0", "ok")
    }


READS_THE_CATALOGUE = """
import os, sys
from pathlib import Path
from detector_kit import alarm, main

def check(target, state):
    '''Accuses every program where a file of trainbugs can be read, or a package of it be imported.'''
    prefixes = {sys.prefix, sys.base_prefix, *sys.path}
    names = ("trainbugs/bugs", "trainbugs/detectors", "trainbugs/__init__.py", "runner/__init__.py")
    places = [Path(p, *more, name) for p in prefixes for more in ((), SITE) for name in names]
    seen = [str(place) for place in places if place.exists()]
    try:
        import msgspec
    except ImportError:
        seen.append("packages that trainbugs depends on are gone")
    return {"alarms": [alarm("seen", " ".join(seen))] if seen else []}

SITE = ("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
main(check)
"""


def test_detector_cannot_read_the_installed_catalogue(installed, toy, tmp_path):
    detector = tmp_path / "reader"
    detector.mkdir()
    described = {
        "schema": 1, "name": "reader", "version": "1", "title": "reads", "source": "here", "needs": ["source"],
        "adapter": "adapter.py", "alarm_rules": {"default": {}},
    }  # fmt: skip
    (detector / "detector.json").write_text(json.dumps(described))
    (detector / "adapter.py").write_text(READS_THE_CATALOGUE)
    # As if they were installed with it: its packages lie beside what it depends on.
    shutil.copytree(Path(sysconfig.get_path("purelib"), "msgspec"), installed.packages / "msgspec")
    words = (
        "evaluate",
        "--detector",
        detector,
        "--bugs",
        toy.directory,
        "--controls",
        "none",
        "--overhead",
        "none",
    )
    installed.call(*words, "--python", sys.executable, "--results", tmp_path / "results")
    records = [
        json.loads(path.read_text()) for path in (tmp_path / "results").rglob("reader/**/*.json")
    ]
    checks = [record for record in records if "key" in record]
    assert [(check["status"], check["alarms"]) for check in checks] == [("ok", [])] * 2, checks
