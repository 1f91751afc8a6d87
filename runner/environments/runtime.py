"""Runtimes: the interpreter and the device of a run, from the name of an environment or the user's
own interpreter.
"""

import hashlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from runner.environments import builder, check, owner, spec
from runner.environments.interpreter import Interpreter, machine_has_accelerator, probe
from runner.environments.spec import Built, Environment
from runner.errors import EnvironmentBuildError, UsageError
from runner.progress.lines import Progress


@dataclass(frozen=True)
class Runtime:
    """The interpreter and the device of a run.

    `broken` says why nothing can run there; None where it can. `built` is None for the user's
    own interpreter; `lock` is then a hash of the packages installed in it. `paths` are the files
    and folders that the interpreter reads. `trusted`: others may change it, whom the user trusts.
    """

    environment: str
    python_path: Path
    python: str
    torch: str | None
    lock: str | None
    built: Built | None
    device: str
    device_name: str | None
    driver: str | None
    broken: str | None = None
    paths: tuple[Path, ...] = ()
    trusted: bool = False

    @property
    def pinned(self) -> bool:
        """Whether the interpreter was built from the hashed lock."""
        return self.built is not None and self.built.backend is None


class RuntimeFinder(Protocol):
    """Finds the runtime of an environment: on this machine, or on the workers of a cluster."""

    def get(self, name: str) -> Runtime:
        """The runtime of the environment of that name, or in that folder."""


class Runtimes:
    """The runtimes of one session on this machine; each is compared with its manifest once, and
    probed once.

    `device` is auto, cpu, cuda or cuda:N; `python` is the user's own interpreter, which then
    replaces every environment. Without `keep`, what a build downloads does not stay in uv's cache.
    With `trust` environments are used that others may change.
    """

    def __init__(
        self,
        root: Path,
        progress: Progress,
        device: str = "auto",
        python: Path | None = None,
        keep: bool = True,
        trust: bool = False,
    ) -> None:
        self.root = root
        self.progress = progress
        self.device = device
        self.python = python
        self.keep = keep
        self.trust = trust
        self._runtimes: dict[str, Runtime] = {}

    def get(self, name: str) -> Runtime:
        """The runtime of the pinned environment of that name, built if it is missing, or of the
        user's own interpreter.

        For an environment that a bug brings, `name` is the path of its folder.

        Raises UsageError where there is no such environment or device, UnbuiltError where a build
        fails, EnvironmentBuildError where this machine cannot build any, or somebody else may
        change it.
        """
        key = str(self.python or name)
        if key not in self._runtimes:
            self._runtimes[key] = self._own_python() if self.python else self._pinned(name)
        return self._runtimes[key]

    def _own_python(self) -> Runtime:
        assert self.python is not None
        interpreter = probe(_interpreter(self.python))
        packages = sorted(f"{name}=={version}" for name, version in interpreter.packages.items())
        lock = hashlib.sha256("\n".join(packages).encode()).hexdigest()
        paths = tuple(map(Path, interpreter.paths))
        return Runtime(
            "own",
            interpreter.path,
            interpreter.python,
            interpreter.torch,
            lock,
            None,
            *self._on(interpreter, str(interpreter.path)),
            paths=paths,
        )

    def _pinned(self, name: str) -> Runtime:
        described = spec.load(self.root, name)
        built = builder.obtain(described, self.progress, self.keep, self.trust)
        trusted = owner.needs_trust(built, self.trust)
        versions = built.python_version, built.torch_version
        lock, paths = described.lock_hash, built.paths
        runtime = Runtime(
            described.name,
            built.python,
            *versions,
            lock,
            built,
            "cpu",
            None,
            None,
            paths=paths,
            trusted=trusted,
        )
        changed = check.changed(built)
        if changed:
            return replace(runtime, broken=changed)
        requested = self.device
        if requested == "cpu" or (requested == "auto" and not machine_has_accelerator()):
            return runtime
        try:
            device, device_name, driver = self._on(
                probe(built.python, built.paths), f"environment {described.name}"
            )
        except EnvironmentBuildError as error:
            return replace(runtime, broken=str(error))
        return replace(runtime, device=device, device_name=device_name, driver=driver)

    def _on(self, interpreter: Interpreter, where: str) -> tuple[str, str | None, str | None]:
        """The kind (with its number), the name and the driver of the device to run on."""
        requested = self.device
        if requested == "cpu" or (requested == "auto" and not interpreter.devices):
            return "cpu", None, None
        if interpreter.torch is None:
            raise UsageError(
                f"device {requested}: {where} has no torch; try --device cpu, or another --python"
            )
        index = int(requested.partition(":")[2] or 0)
        if index >= len(interpreter.devices):
            raise UsageError(
                f"device {requested}: torch {interpreter.torch} of {where} sees "
                f"{len(interpreter.devices)} such devices; try --device cpu"
            )
        return (
            "cuda" if requested == "auto" else requested,
            interpreter.devices[index],
            interpreter.driver,
        )


def unbuilt(environment: Environment, why: str) -> Runtime:
    """The runtime of an environment that could not be built: nothing can run there.

    Its Python is of no version, so that no run has the key of one that ended well.
    """
    place = spec.location(environment)
    python = f"{environment.python}-unbuilt"
    torch = environment.pins.get("torch")
    built = Built(environment, place, None, python, torch)
    return Runtime(
        environment=environment.name,
        python_path=built.python,
        python=python,
        torch=torch,
        lock=environment.lock_hash,
        built=built,
        device="cpu",
        device_name=None,
        driver=None,
        broken=why,
    )


def _interpreter(path: Path) -> Path:
    """The absolute path of an interpreter; a bare name like python3 that is no file here is looked
    for on PATH.
    """
    is_command = len(path.parts) == 1 and not path.exists()
    command = shutil.which(path) if is_command else None
    return Path(command or path).absolute()
