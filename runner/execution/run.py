"""A run, and its key: a hash of everything that may change the result."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from runner.bugs.model import FAULT, PROBE, Bug, Case, Scalar, Variant
from runner.environments.runtime import Runtime
from runner.errors import CatalogError, UsageError
from runner.execution.estimate import Estimate
from runner.execution.resources import Need
from runner.files import untrusted
from runner.results.record import SCHEMA, file_name
from runner.sandbox.env import THREADS
from runner.sandbox.limits import Limits, default_memory_mb

# Runs a script with the bug's probe.
HARNESS = Path(__file__).with_name("with_probe.py")
OF_PROBE = (PROBE, HARNESS.name)
# Parameters that the runner sets itself.
OWN = ("seed", "device")


def run_key(
    case: Case,
    variant: str,
    scripts: Mapping[str, bytes],
    seed: int,
    device: str,
    runtime: tuple[str | None, ...],
    data: str | None,
) -> str:
    """The key of a run; `runtime` is environment, lock, pinned, Python and torch, `data` the digest of its data sets.

    Only the kind of the device counts, so that cuda:0 and cuda:1 give the same key.
    """
    parts = {
        "schema": SCHEMA,
        "threads": THREADS,
        "what": [case.bug, case.name, variant, case.program.variants[variant].script.name],
        "scripts": {name: hashlib.sha256(text).hexdigest() for name, text in scripts.items()},
        "parameters": {
            name: value for name, value in case.program.parameters.items() if name not in OWN
        },
        "seed": seed,
        "device": device.split(":")[0],
        "place": runtime,
        "data": data,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_scripts(bug: Bug, variant: Variant, inject: bool = False) -> dict[str, bytes]:
    """The present text of a variant's Python files, by name: its script, and modules that are no variant's script.

    So the scripts of a new case leave the keys of the others as they are. The bug's probe is among them, and what runs
    it; with `inject` also the program that puts the fault back. Raises CatalogError for a file that is not safe to
    read.
    """
    # A missing script is left out: its runs crash, with a message that says so.
    own = {variant.script, *bug.shared}
    files = [path for path in bug.scripts if path in own]
    fault = [bug.fault] if inject and bug.fault else []
    probe = [bug.probe] if bug.probe else []
    scripts = {path.name: _read_script(path, bug.directory) for path in (*files, *fault, *probe)}
    return scripts | {HARNESS.name: HARNESS.read_bytes()} if probe else scripts


def _read_script(path: Path, within: Path) -> bytes:
    try:
        return untrusted.read_bytes(path, untrusted.MAX_TEXT_BYTES, within)
    except untrusted.UnsafeError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error


def effective_parameters(case: Case, seed: int, device: str) -> dict[str, Scalar]:
    """What the script reads: the parameters of the case with the seed and the device of the run."""
    return {**case.program.parameters, "seed": seed, "device": device}


def data_digest(case: Case, folder: Path | None) -> str | None:
    """A hash of the case's data files in `folder`; `cache` without a folder; None where the case needs no data.

    Raises UsageError where `folder` lacks one of them.
    """
    if not case.program.data:
        return None
    if folder is None:
        return "cache"
    lacking = [name for name in case.program.data if not (folder / name).exists()]
    if lacking:
        raise UsageError(
            f"{case.id} needs data: name {where_data_lies(case)}; {folder / lacking[0]} is not there"
        )
    digest = hashlib.sha256()
    for name in case.program.data:
        digest.update(name.encode())
        if (folder / name).is_file():
            with (folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def where_data_lies(case: Case) -> str:
    """The option that names the data files of a case, and which files these are, by folder."""
    folders: dict[str, list[str]] = {}
    for path in map(Path, case.program.data):
        folders.setdefault(str(Path("DIR") / path.parent), []).append(path.name)
    return "--data DIR, where " + ", and ".join(
        f"{folder} holds {', '.join(own)}" for folder, own in folders.items()
    )


@dataclass(frozen=True)
class Run:
    """One run to execute. `timeout_s` in seconds; `data` is the folder of data sets that the user named.

    `scripts` are the variant's Python files as they were when the run was planned: these are run, and hashed in the
    key. `injected`: fault.py, one of them, runs the script. `repeat` counts from 1 how often the same run is executed.
    `gpu` is the number of the only GPU that the run may see; None: all that the user's environment shows.
    `max_memory_mb` in MB (10^6 bytes); None: most of the machine's. Without `network` there is nothing but localhost.
    Neither limit is part of the key: a run that ends as it should has the same result without them.
    """

    case: Case
    variant: str
    seed: int
    runtime: Runtime
    scripts: Mapping[str, bytes]
    timeout_s: float
    data: Path | None
    data_digest: str | None
    revision: str | None
    injected: bool = False
    repeat: int = 1
    estimate: Estimate = Estimate()
    gpu: int | None = None
    max_memory_mb: float | None = None
    network: bool = True
    label: str = ""

    @property
    def name(self) -> str:
        """The run for messages: BUG/CASE/VARIANT seed N, and the label that tells it from others of the case."""
        injected = ", injected" if self.injected else ""
        again = f", repeat {self.repeat}" if self.repeat > 1 else ""
        label = f" ({self.label})" if self.label else ""
        return f"{self.case.id}/{self.variant} seed {self.seed}{label}{injected}{again}"

    @property
    def file_name(self) -> str:
        """The name of its record in a results folder, without its ending."""
        return file_name(self.variant, self.seed, self.key, self.repeat)

    @property
    def need(self) -> Need:
        """The resources that the run needs."""
        return Need(
            self.case.program.processes,
            self.estimate.memory_gb,
            self.runtime.device.startswith("cuda"),
        )

    @property
    def arguments(self) -> list[str]:
        """The command-line arguments of the interpreter."""
        script = self.case.program.variants[self.variant].script.name
        probe = [HARNESS.name] if PROBE in self.scripts else []
        return [*([FAULT] if self.injected else []), *probe, script, "config.json"]

    @property
    def bare(self) -> "Run":
        """The same without the bug's probe: the program as a person wrote it. It has another key."""
        return replace(
            self,
            scripts={name: text for name, text in self.scripts.items() if name not in OF_PROBE},
        )

    @property
    def limits(self) -> Limits:
        """The limits on its program."""
        return Limits(self.max_memory_mb or default_memory_mb(), self.network)

    @property
    def parameters(self) -> dict[str, Scalar]:
        """What the script reads."""
        return effective_parameters(self.case, self.seed, self.runtime.device)

    @cached_property
    def key(self) -> str:
        """The hash of everything that may change the result."""
        runtime = self.runtime
        identity = (
            runtime.environment,
            runtime.lock,
            str(runtime.pinned),
            runtime.python,
            runtime.torch,
        )
        return run_key(
            self.case,
            self.variant,
            self.scripts,
            self.seed,
            runtime.device,
            identity,
            self.data_digest,
        )
