"""Environments, as the folders environments/<name> describe them, and their builds on disk.

A build lies in the cache under a name that contains the hash of its lock: another lock is another environment.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from runner.bugs.catalog import read_json
from runner.environments.interpreter import Interpreter, probe
from runner.errors import CatalogError, EnvironmentBuildError, UsageError

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", re.MULTILINE)
MANIFEST = "trainbugs.json"


@dataclass(frozen=True)
class Environment:
    """A pinned interpreter and packages. `lock_hash` covers the lock and the Python version; `disk_gb` is measured."""

    name: str
    directory: Path
    python: str
    disk_gb: float
    lock_hash: str
    pins: dict[str, str]

    @property
    def lock(self) -> Path:
        """The hashed lock, a file of requirements."""
        return self.directory / "requirements.txt"


@dataclass(frozen=True)
class Built:
    """An environment on disk. `backend` is the value of uv's --torch-backend; None for a build from the hashed lock."""

    environment: Environment
    directory: Path
    backend: str | None
    python_version: str
    torch_version: str | None

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.directory / "bin" / "python"


def cache_root() -> Path:
    """Where environments and data are kept: $TRAINBUGS_CACHE, or trainbugs in $XDG_CACHE_HOME, or in ~/.cache."""
    folder = os.environ.get("TRAINBUGS_CACHE")
    if folder:
        return Path(folder).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "trainbugs"


def names(root: Path) -> list[str]:
    """Names of all environments under root/environments."""
    return sorted(path.parent.name for path in (root / "environments").glob("*/requirements.txt"))


def load(root: Path, name: str) -> Environment:
    """The environment of that name; raises UsageError where there is none, CatalogError where it is malformed."""
    if name not in names(root):
        raise UsageError(f"there is no environment {name!r}; expected one of {', '.join(names(root)) or '(none)'}")
    return read(name, root / "environments" / name)


def read(name: str, directory: Path) -> Environment:
    """The environment that a directory describes; raises CatalogError where it is malformed."""
    described = read_json(directory / "environment.json")
    disk = described.get("disk_gb") if isinstance(described, dict) else None
    if not isinstance(disk, int | float) or disk < 0:
        raise CatalogError(f"{directory / 'environment.json'}: disk_gb is {disk!r}, expected a number of GB")
    try:
        lock = (directory / "requirements.txt").read_text(encoding="utf-8")
        python = (directory / ".python-version").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise CatalogError(f"{error.filename}: cannot be read: {error.strerror}") from error
    return Environment(
        name=name,
        directory=directory,
        python=python,
        disk_gb=float(disk),
        lock_hash=hashlib.sha256(f"{python}\n{lock}".encode()).hexdigest(),
        pins={normal(package): version for package, version in PIN.findall(lock)},
    )


def location(environment: Environment, backend: str | None = None) -> Path:
    """The directory of a build of the environment, whether it exists or not."""
    suffix = f"-{backend}" if backend else ""
    return cache_root() / "environments" / f"{environment.name}-{environment.lock_hash[:12]}{suffix}"


def find(environment: Environment) -> Built | None:
    """The build from the lock if there is one, else a build with another torch backend; None where there is neither."""
    complete = location(environment)
    others = sorted(complete.parent.glob(f"{complete.name}-*"))
    return next((built for built in (read_built(environment, path) for path in (complete, *others)) if built), None)


def builds(environment: Environment) -> list[Path]:
    """The directories of all builds of the environment, from this lock or an earlier one."""
    name = re.compile(re.escape(environment.name) + r"-[0-9a-f]{12}(-[a-z0-9.]+)?")
    return sorted(
        path for path in location(environment).parent.glob("*") if path.is_dir() and name.fullmatch(path.name)
    )


def scratches(environment: Environment) -> list[Path]:
    """The temporary directories of builds that were killed (or are still running: take their lock first)."""
    name = re.compile(r"\." + re.escape(environment.name) + r"-[0-9a-f]{12}(-[a-z0-9.]+)?\.[^.]+")
    return sorted(
        path for path in location(environment).parent.glob(".*") if path.is_dir() and name.fullmatch(path.name)
    )


def read_built(environment: Environment, directory: Path) -> Built | None:
    """The build in `directory`, or None where there is no finished one."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        return Built(environment, directory, manifest["backend"], manifest["python"], manifest["torch"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def problems(built: Built) -> list[str]:
    """What is wrong with a built environment: torch does not import, a package is missing or has another version."""
    try:
        interpreter = probe(built.python)
    except EnvironmentBuildError as error:
        return [str(error)]
    return differences(built.environment, interpreter)


def changes(built: Built) -> list[str]:
    """How the installed packages differ from the lock, as far as the names of folders show; starts no process."""
    installed: dict[str, str] = {}
    for path in built.directory.glob("lib/python*/site-packages/*.dist-info"):
        package, _, version = path.name.removesuffix(".dist-info").partition("-")
        installed[normal(package)] = version
    return _wrong_versions(built.environment, installed)


def differences(environment: Environment, interpreter: Interpreter) -> list[str]:
    """How an interpreter differs from the lock; a local version label (2.2.2+cpu) is not a difference."""
    installed = {normal(name): version for name, version in interpreter.packages.items()}
    torch = environment.pins.get("torch")
    wrong = _wrong_versions(environment, installed)
    if torch and _public(interpreter.torch) != torch:
        wrong.append(f"imported torch is {interpreter.torch}, expected {torch}")
    if interpreter.python.split(".")[:2] != environment.python.split(".")[:2]:
        wrong.append(f"Python is {interpreter.python}, expected {environment.python}")
    return wrong


def _wrong_versions(environment: Environment, installed: dict[str, str]) -> list[str]:
    return [
        f"{package} is {installed.get(package, 'missing')}, expected {version}"
        for package, version in environment.pins.items()
        if _public(installed.get(package)) != version and not package.startswith(("nvidia-", "triton"))
    ]


def normal(package: str) -> str:
    """The name of a distribution, normalised as in PEP 503."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _public(version: str | None) -> str | None:
    return version.split("+")[0] if version else None
