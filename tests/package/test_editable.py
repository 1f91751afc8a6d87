"""An installation of a checkout in place, used where folders have the names of its packages."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support.paths import ROOT
from uv import find_uv_bin

PACKAGES = ("trainbugs", "runner", "evaluation", "plots")


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder with a checkout called `trainbugs`, and `venv`,
    in which it is installed in place.
    """
    home = tmp_path_factory.mktemp("home")
    checkout = home / "trainbugs"
    for name in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, checkout / name, symlinks=True, ignore=ignored)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "LICENSES.md"):
        shutil.copy2(ROOT / name, checkout)
    build = "import sys; from setuptools import build_meta; build_meta.build_editable(sys.argv[1])"
    call([sys.executable, "-c", build, home], checkout)
    call([find_uv_bin(), "venv", "--python", sys.executable, home / "venv"], home)
    python = home / "venv" / "bin" / "python"
    call(
        [
            find_uv_bin(),
            "pip",
            "install",
            "--offline",
            "--no-deps",
            "--python",
            python,
            *home.glob("*.whl"),
        ],
        home,
    )
    return home


def call(command: list[str | Path], folder: Path) -> str:
    """Run a command that sees the packages of the tests,
    less what is installed among them in place.
    """
    env = os.environ | {"PYTHONPATH": sysconfig.get_path("purelib")}
    done = subprocess.run([*map(str, command)], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_folders_named_like_packages_hide_nothing(home):
    """A notebook, and `python -c`, look first into the folder in which they are started."""
    for name in ("runner", "plots", "evaluation"):
        (home / name).mkdir()
        (home / name / "figure.png").write_bytes(b"")
    code = "import trainbugs, runner, plots, evaluation; print(trainbugs.load, plots.__file__)"
    assert str(home / "trainbugs" / "plots" / "__init__.py") in call(
        [home / "venv" / "bin" / "python", "-c", code], home
    )
