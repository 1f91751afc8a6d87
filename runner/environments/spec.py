"""Environments, as the folders environments/<name> describe them, and their builds on disk.

A build lies in the cache under a name that contains the hash of its lock: another lock is another
environment.
"""

import hashlib
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from runner.bugs.bug import ENVIRONMENT, Bug, brought_name
from runner.bugs.catalog import load_bug, read_json
from runner.environments.manifest import MANIFEST
from runner.errors import CatalogError, UsageError
from runner.files import untrusted
from runner.files.schema_errors import near

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", re.MULTILINE)
DESCRIPTION = "trainbugs.json"
LOCK, PYTHON = "requirements.txt", ".python-version"
DISK = "environment.json"
FILES = (LOCK, PYTHON, DISK)
# A message lists so many names at most.
FEW = 15
MAX_BYTES = 1_000_000
MAX_LOCK_BYTES = 1_000_000
VERSION = re.compile(r"3\.[0-9]{1,2}(\.[0-9]{1,2})?")
# A line of a lock: a comment, or a pin, or hashes of it. Options, paths and links to elsewhere are
# none of these.
HASHES = r"--hash=sha256:[0-9a-f]{64}( +--hash=sha256:[0-9a-f]{64})*"
PINNED = re.compile(
    rf"#.*|{HASHES}|[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+( *;[A-Za-z0-9_.<>=!'\"() ]{{0,300}})?"
    rf"( +{HASHES})?"
)


@dataclass(frozen=True)
class Environment:
    """A pinned interpreter and packages.

    `lock_hash` covers the lock and the Python version; `disk_gb` is measured. With
    `wheels_only` no package is built from its sources.
    """

    name: str
    directory: Path
    python: str
    disk_gb: float
    lock_hash: str
    pins: dict[str, str]
    wheels_only: bool = False

    @property
    def brought(self) -> bool:
        """Whether a bug brings it."""
        return self.directory.name == ENVIRONMENT

    @property
    def shell_name(self) -> str:
        """The word by which `trainbugs env` knows it, quoted for a shell: its name, or the folder
        of the bug or the detector that brings it.
        """
        if self.brought:
            return shlex.quote(str(self.directory.parent))
        is_shared = self.directory.name == self.name
        return self.name if is_shared else shlex.quote(str(self.directory))

    @property
    def lock(self) -> Path:
        """The hashed lock, a file of requirements."""
        return self.directory / LOCK


@dataclass(frozen=True)
class Built:
    """An environment on disk.

    `backend` is the value of uv's --torch-backend; None for a build from the hashed lock.
    `misrecorded` are the files, by relative path, in which a wheel itself differs from its RECORD.
    `interpreter` is the stamp of the interpreter at the build; None in builds of earlier versions
    of trainbugs.
    """

    environment: Environment
    directory: Path
    backend: str | None
    python_version: str
    torch_version: str | None
    misrecorded: tuple[str, ...] = ()
    interpreter: str | None = None

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.directory / "bin" / "python"

    @property
    def paths(self) -> tuple[Path, ...]:
        """The folders that the interpreter reads: the environment, and the installation that it is
        made from.
        """
        return self.directory, self.python.resolve().parents[1]

    @property
    def listed(self) -> bool:
        """Whether it has a manifest; builds of earlier versions of trainbugs have none."""
        return (self.directory / MANIFEST).exists()

    @property
    def remedy(self) -> str:
        """What to do about a broken one, in words.

        The folder of a detector may be a copy that is gone when somebody reads this.
        """
        environment = self.environment
        if not environment.brought and environment.directory.name != environment.name:
            return f"remove {self.directory}, and it is built anew"
        backend = f" --torch-backend {self.backend}" if self.backend else ""
        return (
            f"`trainbugs env build {self.environment.shell_name}{backend} --force` builds it anew"
        )


def cache_root() -> Path:
    """Where environments and data are kept: $TRAINBUGS_CACHE, or trainbugs in $XDG_CACHE_HOME, or
    in ~/.cache.
    """
    folder = os.environ.get("TRAINBUGS_CACHE")
    if folder:
        return Path(folder).absolute()
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches).absolute() / "trainbugs"


def names(root: Path) -> list[str]:
    """Names of all environments under root/environments."""
    return sorted(path.parent.name for path in (root / "environments").glob("*/requirements.txt"))


def pattern_of(package: str) -> str:
    """The pattern of the names of a package's environments: torch-2.2.2 is one of torch,
    torch-geometric-2.3.0 is none.
    """
    return f"{package}-[0-9]*"


def releases(root: Path, package: str) -> list[str]:
    """The releases of a package that have an environment of their own: torch-2.2.2 is one of torch,
    not of timm.
    """
    pattern = pattern_of(package)
    described = [load(root, name) for name in names(root) if fnmatchcase(name, pattern)]
    return [item.pins[package] for item in described if package in item.pins]


def load(root: Path, name: str) -> Environment:
    """The environment of that name, or in the folder at that path, which a bug brings.

    Raises UsageError where there is none, CatalogError where it is malformed.
    """
    if Path(name).name == ENVIRONMENT and "/" in name:
        return brought(load_bug(Path(name).parent))
    directory = root / "environments" / name
    if Path(name).name != name or name == ".." or not (directory / LOCK).exists():
        raise unknown(name, names(root))
    return read(name, directory)


def unknown(name: str, known: Sequence[str]) -> UsageError:
    """There is no environment of that name: with the others of the same package, else with what is
    near it; with all if they are few.
    """
    package = name.rpartition("-")[0]
    of_package = [other for other in known if other.rpartition("-")[0] == package]
    if len(known) <= FEW:
        advice = f"; expected one of {', '.join(known) or '(none)'}"
    elif of_package and len(of_package) <= FEW:
        advice = f"; of {package} there are {', '.join(of_package)}; `trainbugs env list` shows all"
    else:
        advice = f"{near(name, known)}; `trainbugs env list` shows all"
    return UsageError(f"there is no environment {name!r}{advice}")


def brought(bug: Bug) -> Environment:
    """The environment that a bug brings, in its folder `environment`; raises CatalogError, see
    `read_wheels_only`.
    """
    return read_wheels_only(brought_name(bug.id), bug.directory / ENVIRONMENT, bug.directory)


def read_wheels_only(name: str, directory: Path, within: Path) -> Environment:
    """The environment that a directory in the folder `within` describes; it may come from anyone.

    Raises CatalogError where it is malformed, or its lock says more than which wheels to install:
    options and packages that must be built would run code of it outside of the sandbox.
    """
    environment = read(name, directory, within)
    for line in environment.lock.read_text(encoding="utf-8").splitlines():
        pin = line.removesuffix("\\").strip()
        if pin and not PINNED.fullmatch(pin):
            raise CatalogError(
                f"{environment.lock}: {untrusted.brief(pin)} is no pin with hashes; expected what "
                "`uv pip compile --generate-hashes` writes, without options"
            )
    return replace(environment, wheels_only=True)


def read(name: str, directory: Path, within: Path | None = None) -> Environment:
    """The environment that a directory describes; raises CatalogError where it is malformed.

    Also raises it for a link that leads out of the directory, or out of the folder `within`.
    """
    within = within or directory
    missing = [file for file in FILES if not (directory / file).exists()]
    if missing:
        raise CatalogError(
            f"{untrusted.shown(directory)}: lacks {', '.join(missing)}; docs/contributing-bugs.md "
            "shows how to make the files of an environment"
        )
    lock, python = _text(directory / LOCK, within), _text(directory / PYTHON, within).strip()
    if not VERSION.fullmatch(python):
        raise CatalogError(
            f"{directory / PYTHON}: is {untrusted.brief(python)}, expected a number like 3.11"
        )
    described = read_json(directory / DISK, within)
    disk = described.get("disk_gb") if isinstance(described, dict) else None
    if not isinstance(disk, int | float) or disk < 0:
        raise CatalogError(f"{directory / DISK}: disk_gb is {disk!r}, expected a number of GB")
    return Environment(
        name=name,
        directory=directory,
        python=python,
        disk_gb=float(disk),
        lock_hash=hashlib.sha256(f"{python}\n{lock}".encode()).hexdigest(),
        pins=dict(_pins(lock)),
    )


@lru_cache(maxsize=256)
def _pins(lock: str) -> dict[str, str]:
    """The versions that the text of a lock pins; many records ask for the same one."""
    return {normal(package): version for package, version in PIN.findall(lock)}


def _text(path: Path, within: Path) -> str:
    try:
        return untrusted.read_text(path, MAX_LOCK_BYTES, within)
    except untrusted.UnsafeError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error


def location(environment: Environment, backend: str | None = None) -> Path:
    """The directory of a build of the environment, whether it exists or not."""
    name = f"{environment.name}-{environment.lock_hash[:12]}"
    if backend:
        name += f"-{backend}"
    return cache_root() / "environments" / name


def find(environment: Environment) -> Built | None:
    """The build from the lock if there is one, else a build with another torch backend; None where
    there is neither.
    """
    complete = location(environment)
    backends = sorted(complete.parent.glob(f"{complete.name}-*"))
    for path in (complete, *backends):
        built = read_built(environment, path)
        if built:
            return built
    return None


def builds(environment: Environment) -> list[Path]:
    """The directories of all builds of the environment, from this lock or an earlier one."""
    name = re.compile(re.escape(environment.name) + r"-[0-9a-f]{12}(-[a-z0-9.]+)?")
    return _folders(location(environment).parent, "*", name)


def scratches(environment: Environment) -> list[Path]:
    """The temporary directories of builds that were killed (or are still running: take their lock
    first).
    """
    name = re.compile(r"\." + re.escape(environment.name) + r"-[0-9a-f]{12}(-[a-z0-9.]+)?\.[^.]+")
    return _folders(location(environment).parent, ".*", name)


def _folders(parent: Path, glob: str, name: re.Pattern[str]) -> list[Path]:
    """The folders in `parent` of such a name, sorted."""
    paths = [path for path in parent.glob(glob) if name.fullmatch(path.name)]
    return sorted(path for path in paths if path.is_dir())


def read_built(environment: Environment, directory: Path) -> Built | None:
    """The build in `directory`, or None where there is no finished one."""
    try:
        description = untrusted.read_json(directory / DESCRIPTION, MAX_BYTES, directory)
        backend = directory.name.partition(f"{location(environment).name}-")[2] or None
        wrong = tuple(description.get("misrecorded", ()))
        stamp = description.get("interpreter")
        return Built(
            environment,
            directory,
            backend,
            description["python"],
            description["torch"],
            wrong,
            stamp,
        )
    except (untrusted.UnsafeError, AttributeError, KeyError, TypeError):
        return None


def interpreter_stamp(python: Path) -> str | None:
    """Size and time of the program that `python` leads to, outside of the environment; None where
    there is none.
    """
    try:
        status = python.stat()
    except OSError:
        return None
    return f"{status.st_size} {status.st_mtime_ns}"


def normal(package: str) -> str:
    """The name of a distribution, normalised as in PEP 503."""
    return re.sub(r"[-_.]+", "-", package).lower()
