"""Building environments with uv from their hashed locks, and removing them.

A build happens in a temporary directory that is renamed into place when it is complete and checked, under an
inter-process lock: no program ever sees a half-built environment, and two that need the same one build it once.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.environments import spec as environments
from runner.environments.interpreter import probe
from runner.environments.spec import MANIFEST, Built, Environment
from runner.errors import EnvironmentBuildError
from runner.progress.lines import Progress, on_stderr
from runner.sandbox import env, process

BUILD_TIMEOUT_S = 3600
# Disk space of a build without CUDA libraries.
CPU_GB = 1.5


@dataclass(frozen=True)
class Removed:
    """Disk space in GB (10^9 bytes); `linked_gb` is not freed, because uv's cache holds the same files."""

    freed_gb: float
    linked_gb: float


def build(
    environment: Environment, progress: Progress, backend: str | None = None, force: bool = False, keep: bool = True
) -> Built:
    """The environment on disk, built if it is missing, or with `force`; raises EnvironmentBuildError.

    `backend` is passed to uv as --torch-backend: other builds of the same versions, not covered by the lock's hashes.
    Without `keep`, downloads do not stay in uv's cache, so that removing the environment frees its disk space.
    """
    target = environments.location(environment, backend)
    ready = None if force else environments.read_built(environment, target)
    if ready:
        return ready
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _lock(target, progress):
            ready = None if force else environments.read_built(environment, target)
            return ready or _build(environment, target, backend, progress, keep)
    except OSError as error:
        raise EnvironmentBuildError(f"environment {environment.name}: {target.parent}: {error.strerror}") from error


def remove(environment: Environment) -> Removed | None:
    """Remove every build of the environment, from earlier locks too; None where there was none."""
    directories = environments.builds(environment)
    for scratch in environments.scratches(environment):
        with _lock(scratch.with_name(scratch.stem[1:]), on_stderr()):
            shutil.rmtree(scratch, ignore_errors=True)
    freed = linked = 0
    for directory in directories:
        with _lock(directory, on_stderr()):
            for size, links in _files(directory):
                freed, linked = (freed + size, linked) if links == 1 else (freed, linked + size)
            # Renamed first, in one step: an interrupted removal leaves nothing that looks like an environment.
            doomed = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
            directory.rename(doomed / "old")
            shutil.rmtree(doomed)
    return Removed(freed / 1e9, linked / 1e9) if directories else None


def _build(environment: Environment, target: Path, backend: str | None, progress: Progress, keep: bool) -> Built:
    need = min(environment.disk_gb, CPU_GB) if backend == "cpu" else environment.disk_gb
    free = shutil.disk_usage(target.parent).free / 1e9
    if free < need:
        raise EnvironmentBuildError(
            f"environment {environment.name} needs {need:.1f} GB of disk, {target.parent} has {free:.1f} GB free; "
            "make room, or name a folder elsewhere in TRAINBUGS_CACHE"
        )
    progress.line(f"environment {environment.name}: building, needs up to {need:.1f} GB of disk ({free:.0f} GB free)")
    # The lock is held, so these directories are left over from builds that were killed.
    for stale in target.parent.glob(f".{target.name}.*/"):
        shutil.rmtree(stale, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        venv = scratch / "venv"
        seconds = _install(environment, venv, backend, progress, keep)
        built = _verify(environment, venv, backend)
        if target.exists():
            target.rename(scratch / "old")
        venv.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    progress.line(f"environment {environment.name}: built in {seconds:.0f} s")
    return Built(environment, target, backend, built.python_version, built.torch_version)


def _install(environment: Environment, venv: Path, backend: str | None, progress: Progress, keep: bool) -> float:
    """Make the venv and install into it; returns the seconds that it took."""
    start = time.monotonic()
    create = ["venv", "--relocatable", "--python", _base_python(environment), str(venv)]
    install = ["pip", "install", "--python", str(venv / "bin" / "python")]
    _uv(environment, create, venv, progress)
    if backend is None:
        # No dependencies: the lock is complete, or it leaves out what is already installed where its packages are used.
        install += ["--no-deps", "--require-hashes", "-r", str(environment.lock)]
        # First offline: what the cache holds under the lock's hashes is what the index would give.
        if _run_uv([*install, "--offline"], environment, venv, progress).returncode == 0:
            return time.monotonic() - start
    else:
        pins = venv.with_name("pins.txt")
        versions = {name: pin for name, pin in environment.pins.items() if not name.startswith(("nvidia-", "triton"))}
        pins.write_text("".join(f"{name}=={pin}\n" for name, pin in versions.items()), encoding="utf-8")
        install += ["--torch-backend", backend, "-r", str(pins)]
    _uv(environment, install if keep else [*install, "--no-cache"], venv, progress)
    return time.monotonic() - start


def _verify(environment: Environment, venv: Path, backend: str | None) -> Built:
    interpreter = probe(venv / "bin" / "python")
    wrong = environments.differences(environment, interpreter)
    if wrong:
        raise EnvironmentBuildError(f"environment {environment.name} is not what its lock says: {'; '.join(wrong)}")
    manifest = {
        "name": environment.name,
        "lock": environment.lock_hash,
        "backend": backend,
        "python": interpreter.python,
        "torch": interpreter.torch,
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    (venv / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return Built(environment, venv, backend, interpreter.python, interpreter.torch)


def _uv(environment: Environment, arguments: list[str], venv: Path, progress: Progress) -> None:
    done = _run_uv(arguments, environment, venv, progress)
    if done.returncode:
        log = venv.with_name("uv.log")
        kept = environments.cache_root() / "environments" / f"{environment.name}.log"
        shutil.copyfile(log, kept)
        why = "took too long" if done.timed_out else _reason(log.read_text(encoding="utf-8", errors="replace"))
        raise EnvironmentBuildError(f"environment {environment.name} could not be built: {why} (log: {kept})")


def _run_uv(arguments: list[str], environment: Environment, venv: Path, progress: Progress) -> process.Finished:
    try:
        from uv import find_uv_bin
    except ModuleNotFoundError as error:
        raise EnvironmentBuildError(
            f"environment {environment.name} is not there, and uv, which builds it, is not installed: "
            "`pip install uv`, or name an interpreter that has torch by --python"
        ) from error

    log = venv.with_name("uv.log")
    return process.run(
        [find_uv_bin(), "--no-progress", *arguments],
        cwd=venv.parent,
        env=env.build_environment(),
        stdout=log.with_suffix(".out"),
        stderr=log,
        timeout_s=BUILD_TIMEOUT_S,
        on_wait=lambda elapsed: progress.status(
            lambda: f"environment {environment.name}: uv {arguments[0]}, {elapsed:.0f} s"
        ),
    )


def _reason(log: str) -> str:
    """One line made of uv's messages: what failed, of what, and the innermost cause."""
    lines = [re.sub(r"^[\s×╰│├─▶>]+", "", line).strip() for line in log.splitlines()]
    messages = [line for line in lines if re.match(r"(?i)(error|cause|caused by)\b", line)] or [
        line for line in lines if line
    ]
    chosen = dict.fromkeys([*messages[:2], *messages[-1:]])
    return "; ".join(re.sub(r"(?i)^(error|cause|caused by): ", "", line) for line in chosen)[:400]


def _base_python(environment: Environment) -> str:
    """The base interpreter of this process, which surely exists, if its version fits; else the version, for uv."""
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix) / "bin" / f"python{mine}"
    return str(base) if mine == environment.python and base.exists() else environment.python


@contextmanager
def _lock(target: Path, progress: Progress) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(target.with_name(f".{target.name}.lock"))
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
