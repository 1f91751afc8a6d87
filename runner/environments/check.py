"""Checks of built environments: a quick one before anything runs in them, and a thorough one of
every file.
"""

import os
from collections.abc import Sequence

import msgspec

from runner.environments import interpreter, manifest, wheels
from runner.environments.interpreter import Interpreter, probe
from runner.environments.spec import Built, Environment, interpreter_stamp, normal
from runner.errors import EnvironmentBuildError, ProcessError
from runner.files.untrusted import UnsafeError

# Named in a message; the others are counted.
MAX_LISTED = 3


def changed(built: Built) -> str | None:
    """How a build has changed since it was made, in words, as far as its manifest and its Python's
    version tell.

    None where it has not. Nothing of the build is run before all its files have been compared.
    """
    changes = manifest.changes(built.directory) or _other_python(built)
    if not changes:
        return None
    more = f" (and {len(changes) - 1} more differences)" if changes[1:] else ""
    return f"environment {built.environment.name} was changed: {changes[0]}{more}"


def problems(built: Built) -> list[str]:
    """What is wrong with a build: it was changed, torch does not import, a package is missing or
    has another version.

    What the files hold is not read. Nothing runs in a build that was changed.
    """
    return _some(manifest.changes(built.directory)) or _other_python(built) or _misbehaviour(built)


def all_problems(built: Built) -> list[str]:
    """Like `problems`; and every file is read, and compared with its hash at the build and with its
    wheel's RECORD.
    """
    if not built.listed:
        return ["built by an earlier trainbugs, without a manifest of its files"]
    listed = manifest.changes(built.directory) or _contents(built)
    return _some(listed) or _other_python(built) or _misbehaviour(built)


def differences(environment: Environment, interpreter: Interpreter) -> list[str]:
    """How an interpreter differs from the lock; a local version label (2.2.2+cpu) is not a
    difference.
    """
    installed = {normal(name): version for name, version in interpreter.packages.items()}
    torch = environment.pins.get("torch")
    wrong: list[str] = []
    for package, version in environment.pins.items():
        is_of_gpu = package.startswith(("nvidia-", "triton"))
        if not is_of_gpu and _public(installed.get(package)) != version:
            wrong.append(f"{package} is {installed.get(package, 'missing')}, expected {version}")
    if torch and _public(interpreter.torch) != torch:
        wrong.append(f"imported torch is {interpreter.torch}, expected {torch}")
    if interpreter.python.split(".")[:2] != environment.python.split(".")[:2]:
        wrong.append(f"Python is {interpreter.python}, expected {environment.python}")
    return wrong


def _contents(built: Built) -> list[str]:
    try:
        hashes = manifest.file_hashes(built.directory)
        changed = manifest.contents(built.directory, hashes)
        if changed:
            return changed
        wrong = wheels.wrong(built.directory, hashes, compiled=True)
        return [str(item) for item in wrong if item.path not in built.misrecorded]
    except OSError as error:
        return [f"{error.filename} cannot be read: {error.strerror}"]
    except (UnsafeError, msgspec.MsgspecError) as error:
        return [str(error)]


def _other_python(built: Built) -> list[str]:
    """The interpreter lies outside of the build, and may have been replaced since.

    One that has its stamp is not asked: that would take as long as the start of a run.
    """
    if built.interpreter and built.interpreter == interpreter_stamp(built.python):
        return []
    if built.python.is_symlink() and not os.access(built.python, os.F_OK):
        return [
            f"its Python, {os.path.realpath(built.python)}, is not on this machine, or you may not "
            "read it; an environment has only a link to a Python"
        ]
    try:
        version = interpreter.version(built.python, built.paths)
    except ProcessError as error:
        return [str(error)]
    if version == built.python_version:
        return []
    return [f"Python is {version}, expected {built.python_version}, with which it was built"]


def _misbehaviour(built: Built) -> list[str]:
    try:
        return differences(built.environment, probe(built.python, built.paths))
    except EnvironmentBuildError as error:
        return [str(error)]


def _some(differences: Sequence[str]) -> list[str]:
    more = len(differences) - MAX_LISTED
    if more <= 0:
        return list(differences)
    return [*differences[:MAX_LISTED], f"{more} more differences"]


def _public(version: str | None) -> str | None:
    return version.split("+")[0] if version else None
