"""Building environments with uv from their hashed locks, and removing them.

A build happens in a temporary directory that is renamed into place when it is complete and checked,
under an inter-process lock: no program ever sees a half-built environment, and two that need the
same one build it once.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.environments import bytecode, manifest, owner
from runner.environments import spec as environments
from runner.environments.check import differences
from runner.environments.install import Installation, InstalledFiles
from runner.environments.interpreter import Interpreter, probe
from runner.environments.spec import DESCRIPTION, Built, Environment, interpreter_stamp
from runner.environments.supported import unsupported
from runner.errors import EnvironmentBuildError, UnbuiltError, UnusableError
from runner.progress.lines import Progress, on_stderr

# Disk space of a build without CUDA libraries.
CPU_GB = 1.5


@dataclass(frozen=True)
class Removed:
    """Disk space in GB (10^9 bytes); `linked_gb` is not freed, because uv's cache holds the same
    files.
    """

    freed_gb: float
    linked_gb: float


def build(
    environment: Environment,
    progress: Progress,
    backend: str | None = None,
    force: bool = False,
    keep: bool = True,
    trust: bool = False,
) -> Built:
    """The environment on disk, built if it is missing, or with `force`; raises
    EnvironmentBuildError, UnbuiltError where the reason lies in this environment.

    Also raises it where somebody else may change it, or the cache, unless `trust` allows that.

    `backend` is passed to uv as --torch-backend: other builds of the same versions, not covered by
    the lock's hashes. Without `keep`, downloads do not stay in uv's cache, so that removing the
    environment frees its disk space.
    """
    target = environments.location(environment, backend)
    ready = None if force else _ready(environment, target)
    if ready:
        owner.needs_trust(ready, trust)
        return ready
    refusal = unsupported()
    if refusal:
        raise EnvironmentBuildError(f"environment {environment.name} cannot be built: {refusal}")
    try:
        for folder in (target.parent, environments.cache_root() / bytecode.FOLDER):
            owner.make_cache(folder)
            owner.refuse_cache(folder, trust)
        with _lock(target, progress):
            ready = None if force else _ready(environment, target)
            return ready or _build(environment, target, backend, progress, keep)
    except OSError as error:
        raise _unwritable(environment, error) from error


def obtain(
    environment: Environment, progress: Progress, keep: bool = True, trust: bool = False
) -> Built:
    """The build that there is, from the lock or with another torch backend; from the lock where
    there is none.

    One without a manifest, of an earlier trainbugs, is built anew. Raises EnvironmentBuildError.
    """
    built = environments.find(environment)
    if built and built.listed:
        return built
    if built:
        progress.line(
            f"environment {environment.name}: has no manifest of its files; an earlier trainbugs "
            "built it, or it was not copied whole"
        )
    return build(environment, progress, built.backend if built else None, keep=keep, trust=trust)


def remove(environment: Environment) -> Removed | None:
    """Remove every build of the environment, from earlier locks too; None where there was none.

    Raises EnvironmentBuildError where the cache cannot be written.
    """
    try:
        return _removed(environment)
    except OSError as error:
        raise _unwritable(environment, error) from error


def _unwritable(environment: Environment, error: OSError) -> EnvironmentBuildError:
    """The error for a cache that cannot be written."""
    folder = environments.location(environment).parent
    return EnvironmentBuildError(
        f"environment {environment.name}: {folder} cannot be written: {error.strerror}; name a "
        "folder of yours in TRAINBUGS_CACHE"
    )


def _removed(environment: Environment) -> Removed | None:
    directories = environments.builds(environment)
    for scratch in environments.scratches(environment):
        with _lock(scratch.with_name(scratch.stem[1:]), on_stderr()):
            shutil.rmtree(scratch, ignore_errors=True)
    freed = linked = 0
    for directory in directories:
        with _lock(directory, on_stderr()):
            for size, links in _files(directory):
                freed, linked = (freed + size, linked) if links == 1 else (freed, linked + size)
            # Renamed first, in one step: an interrupted removal leaves nothing that looks like an
            # environment.
            doomed = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
            directory.rename(doomed / "old")
            shutil.rmtree(doomed)
    bytecode.prune(environments.cache_root() / bytecode.FOLDER)
    return Removed(freed / 1e9, linked / 1e9) if directories else None


def _ready(environment: Environment, target: Path) -> Built | None:
    built = environments.read_built(environment, target)
    return built if built and built.listed else None


def _build(
    environment: Environment, target: Path, backend: str | None, progress: Progress, keep: bool
) -> Built:
    need = min(environment.disk_gb, CPU_GB) if backend == "cpu" else environment.disk_gb
    free = shutil.disk_usage(target.parent).free / 1e9
    if free < need:
        raise UnbuiltError(
            f"environment {environment.name} needs {need:.1f} GB of disk, {target.parent} has "
            f"{free:.1f} GB free; make room, or name a folder elsewhere in TRAINBUGS_CACHE"
        )
    progress.line(
        f"environment {environment.name}: building, needs up to {need:.1f} GB of disk ({free:.0f} "
        "GB free)"
    )
    # The lock is held, so these directories are left over from builds that were killed.
    for stale in target.parent.glob(f".{target.name}.*/"):
        shutil.rmtree(stale, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        start = time.monotonic()
        installation = Installation(environment, scratch / "venv", target, backend, keep, progress)
        built = _verify(installation, installation.do())
        owner.close_to_others(installation.venv)
        if target.exists():
            target.rename(scratch / "old")
        installation.venv.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    progress.line(f"environment {environment.name}: built in {time.monotonic() - start:.0f} s")
    return built


def _verify(installation: Installation, installed: InstalledFiles) -> Built:
    """Describe and list what was installed; raises UnbuiltError where it is not what the lock
    says.
    """
    environment, venv, backend = installation.environment, installation.venv, installation.backend
    python = venv / "bin" / "python"
    interpreter = _probe(environment, python, [venv, python.resolve().parents[1]])
    wrong = differences(environment, interpreter)
    if wrong:
        raise UnbuiltError(
            f"environment {environment.name} is not what its lock says: {'; '.join(wrong)}"
        )
    stamp = interpreter_stamp(python)
    description = {
        "name": environment.name,
        "lock": environment.lock_hash,
        "backend": backend,
        "python": interpreter.python,
        "torch": interpreter.torch,
        "misrecorded": installed.misrecorded,
        "interpreter": stamp,
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    (venv / DESCRIPTION).write_text(json.dumps(description, indent=1), encoding="utf-8")
    manifest.write(venv, installed.hashes)
    return Built(
        environment,
        installation.target,
        backend,
        interpreter.python,
        interpreter.torch,
        installed.misrecorded,
        stamp,
    )


def _probe(environment: Environment, python: Path, readable: Sequence[Path]) -> Interpreter:
    try:
        return probe(python, readable)
    except UnusableError as error:
        raise UnbuiltError(f"environment {environment.name} cannot be used: {error}") from error


@contextmanager
def _lock(target: Path, progress: Progress) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(target.with_name(f".{target.name}.lock"), mode=0o644)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress.line(f"{target.name}: another trainbugs is busy with it, waiting")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _files(directory: Path) -> Iterator[tuple[int, int]]:
    """Of each file, the bytes that it takes on disk and its number of hard links."""
    for folder, _, files in os.walk(directory):
        for file in files:
            status = os.lstat(Path(folder) / file)
            yield status.st_blocks * 512, status.st_nlink
