"""Where does a run happen? Names of environments, or an interpreter of the user's own -> interpreter and device."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from runner.environments import builder, spec
from runner.environments.interpreter import Interpreter, machine_has_accelerator, probe
from runner.environments.spec import Built
from runner.errors import EnvironmentBuildError, UsageError
from runner.progress.lines import Progress


@dataclass(frozen=True)
class Runtime:
    """Where a run happens: an interpreter and a device. `broken` says why nothing can run there.

    `built` is None for an interpreter of the user's own; `lock` is then a hash of what is installed in it.
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

    @property
    def pinned(self) -> bool:
        return self.built is not None and self.built.backend is None


class RuntimeFinder(Protocol):
    """Who knows the place of an environment: this machine, or the workers of a cluster."""

    def get(self, name: str) -> Runtime: ...


class Runtimes:
    """The places of one session: every interpreter is looked at once.

    `device` is auto, cpu, cuda or cuda:N; `python` an interpreter of the user's own, which stands for every
    environment. Without `keep`, what a build downloads does not stay in uv's cache.
    """

    def __init__(
        self, root: Path, progress: Progress, device: str = "auto", python: Path | None = None, keep: bool = True
    ) -> None:
        self.root = root
        self.progress = progress
        self.device = device
        self.python = python
        self.keep = keep
        self._runtimes: dict[str, Runtime] = {}

    def get(self, name: str) -> Runtime:
        """The pinned environment of that name, built if it is missing, or the user's own interpreter if there is one.

        Raises UsageError where there is no such environment or device, EnvironmentBuildError where a build fails.
        """
        key = str(self.python or name)
        if key not in self._runtimes:
            self._runtimes[key] = self._own_python() if self.python else self._pinned(name)
        return self._runtimes[key]

    def _own_python(self) -> Runtime:
        assert self.python is not None
        found = probe(self.python.absolute())
        packages = sorted(f"{name}=={version}" for name, version in found.packages.items())
        lock = hashlib.sha256("\n".join(packages).encode()).hexdigest()
        return Runtime("own", found.path, found.python, found.torch, lock, None, *self._on(found, str(found.path)))

    def _pinned(self, name: str) -> Runtime:
        described = spec.load(self.root, name)
        built = spec.find(described) or builder.build(described, self.progress, keep=self.keep)
        runtime = Runtime(
            name, built.python, built.python_version, built.torch_version, described.lock_hash, built, "cpu", None, None
        )
        changed = spec.changes(built)
        if changed:
            return replace(runtime, broken=f"environment {name} was changed: {changed[0]}")
        wanted = self.device
        if wanted == "cpu" or (wanted == "auto" and not machine_has_accelerator()):
            return runtime
        try:
            device, device_name, driver = self._on(probe(built.python), f"environment {name}")
        except EnvironmentBuildError as error:
            return replace(runtime, broken=str(error))
        return replace(runtime, device=device, device_name=device_name, driver=driver)

    def _on(self, found: Interpreter, where: str) -> tuple[str, str | None, str | None]:
        """Kind (with its number), name and driver of the device to run on."""
        wanted = self.device
        if wanted == "cpu" or (wanted == "auto" and not found.devices):
            return "cpu", None, None
        index = int(wanted.partition(":")[2] or 0)
        if index >= len(found.devices):
            raise UsageError(
                f"device {wanted}: torch {found.torch} of {where} sees {len(found.devices)} such devices; "
                "try --device cpu"
            )
        return "cuda" if wanted == "auto" else wanted, found.devices[index], found.driver
