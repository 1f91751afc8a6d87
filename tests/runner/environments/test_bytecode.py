"""Bytecode that environments share: linked where it is what it was, and compiled where it is not."""

import importlib.util
import marshal
import subprocess
import sys

import pytest
from support.environments import QUIET, load
from support.toy import PYTHON
from support.wheels import lock, write_wheel

from runner.environments import builder, spec
from runner.environments.bytecode import FOLDER
from runner.errors import EnvironmentBuildError

SITE = f"lib/python{PYTHON}/site-packages"
MODULE = f"{SITE}/toypackage/__init__.py"
BYTECODE = f"{SITE}/toypackage/__pycache__/__init__.{sys.implementation.cache_tag}.pyc"


@pytest.fixture
def build_another(toy, toy_environment):
    """Build an environment of the same package by another lock."""

    def build():
        path = toy_environment / "requirements.txt"
        path.write_text(f"# another lock\n{path.read_text()}")
        return builder.build(load(toy), QUIET)

    return build


def kept():
    return list((spec.cache_root() / FOLDER).rglob("*.pyc"))


def imported(built, words):
    """What a program in the environment prints of the package."""
    program = f"import toypackage; print({words})"
    return subprocess.run(
        [built.python, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_module_of_two_environments_is_compiled_once(toy, build_another):
    first = builder.build(load(toy), QUIET)
    second = build_another()
    assert first.directory != second.directory
    inodes = {(built.directory / BYTECODE).stat().st_ino for built in (first, second)}
    assert len(inodes) == 1


def test_linked_bytecode_says_where_the_module_lies(toy, build_another):
    """It was compiled for another folder."""
    builder.build(load(toy), QUIET)
    second = build_another()
    words = "toypackage.__spec__.loader.get_code('toypackage').co_filename"
    assert imported(second, words) == str(second.directory / MODULE)


def test_edited_bytecode_is_in_no_further_environment(toy, build_another):
    first = builder.build(load(toy), QUIET)
    path = first.directory / BYTECODE
    path.write_bytes(path.read_bytes()[:16] + b"evil")
    second = build_another()
    assert imported(second, "toypackage.value") == "1"
    assert (second.directory / BYTECODE).stat().st_ino != path.stat().st_ino


def test_bytecode_of_a_wheel_is_never_run(toy, toy_environment, wheelhouse):
    """Not even if its head asks Python not to compare it with the module beside it."""
    unchecked = importlib.util.MAGIC_NUMBER + b"\1\0\0\0" + bytes(8)
    name = f"odd/__pycache__/__init__.{sys.implementation.cache_tag}.pyc"
    evil = unchecked + marshal.dumps(compile("value = 2\n", "evil", "exec"))
    odd = write_wheel(wheelhouse, "odd", {"odd/__init__.py": "value = 1\n", name: evil})
    (toy_environment / "requirements.txt").write_text(lock(odd, *wheelhouse.glob("toy*")))
    built = builder.build(load(toy), QUIET)
    program = "import odd; print(odd.value)"
    output = subprocess.run([built.python, "-c", program], capture_output=True, check=True).stdout
    assert output == b"1\n"
    assert all(b"evil" not in path.read_bytes() for path in kept())


def test_without_an_environment_that_holds_it_bytecode_is_removed(toy, build_another):
    builder.build(load(toy), QUIET)
    build_another()
    assert kept()
    builder.remove(load(toy))
    assert not kept()


def test_a_store_that_others_may_write_to_is_refused(toy, toy_environment):
    """What they put there would run in the next environment."""
    folder = spec.cache_root() / FOLDER
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(EnvironmentBuildError, match=FOLDER):
        builder.build(load(toy), QUIET)
