"""Wheels whose files would run while an environment is built: nothing of them runs outside of the
sandbox.
"""

import subprocess

import pytest
from support.environments import QUIET, load
from support.toy import PYTHON
from support.wheels import lock, write_wheel

from runner.environments import builder
from runner.errors import EnvironmentBuildError

SCRIPTS = "odd-1.0.data/scripts"
# Files by which a package gets the interpreter to run something when it starts, or takes its place.
HOOKS = {"a line of a .pth": "odd.pth", "sitecustomize": "sitecustomize.py"}
INTERPRETERS = ("python", "python3", f"python{PYTHON}")


@pytest.fixture
def mark(tmp_path):
    """A file that code of a package makes where it runs outside of the sandbox, which hides the
    folder.
    """
    return tmp_path / "executed"


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("lies", [False, True])
def test_hooks_of_a_package_do_not_run_in_a_build(
    toy, toy_environment, wheelhouse, mark, name, lies
):
    """Where its RECORD lies, uv is called once more, when the package is there already."""
    act = (
        f"import os; open({str(mark)!r}, 'w').close() if os.access({str(mark.parent)!r}, os.W_OK) "
        "else None\n"
    )
    files = {"odd/__init__.py": "", HOOKS[name]: act, "odd/data.txt": "real"}
    odd = write_wheel(wheelhouse, "odd", files, claims={"odd/data.txt": "recorded"} if lies else {})
    (toy_environment / "requirements.txt").write_text(lock(odd, *wheelhouse.glob("toy*")))
    built = builder.build(load(toy), QUIET)
    assert not mark.exists()
    assert (
        next(built.directory.glob("lib/python*/site-packages")) / HOOKS[name]
    ).read_text() == act
    subprocess.run([built.python, "-c", ""], check=True)
    assert mark.exists(), "outside of the sandbox it would run"


@pytest.mark.parametrize("name", INTERPRETERS)
def test_no_package_takes_the_place_of_the_interpreter(
    toy, toy_environment, wheelhouse, mark, name
):
    text = f"#!/bin/sh\ntouch {mark}\nexit 1\n"
    odd = write_wheel(wheelhouse, "odd", {"odd/__init__.py": "", f"{SCRIPTS}/{name}": text})
    (toy_environment / "requirements.txt").write_text(lock(odd, *wheelhouse.glob("toy*")))
    with pytest.raises(
        EnvironmentBuildError, match="could not be built|into the place of the interpreter"
    ):
        builder.build(load(toy), QUIET)
    assert not mark.exists()
