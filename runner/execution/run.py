"""One run to execute."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from runner.bugs.bug import FAULT, PROBE
from runner.bugs.case import Case
from runner.environments.runtime import Runtime
from runner.execution.estimate import Estimate
from runner.execution.key import HARNESS, PROBE_FILES, run_key
from runner.execution.resources import Need
from runner.field_types import Scalar
from runner.results.record import file_name
from runner.sandbox.limits import Limits, default_memory_mb


def effective_parameters(case: Case, seed: int, device: str) -> dict[str, Scalar]:
    """What the script reads: the parameters of the case with the seed and the device of the run."""
    return {**case.program.parameters, "seed": seed, "device": device}


@dataclass(frozen=True)
class Run:
    """One run to execute. `timeout_s` in seconds; `data` is the folder of data sets that the user
    named.

    `scripts` are the variant's Python files as they were when the run was planned: these are run,
    and hashed in the key. `injected`: fault.py, one of them, runs the script. `repeat` counts from
    1 how often the same run is executed. `gpu` is the number of the only GPU that the run may see;
    None: all that the user's environment shows. `max_memory_mb` in MB (10^6 bytes); None: most of
    the machine's. Without `network` there is nothing but localhost. `profiled`: Python tells on
    standard error how long its imports took. Neither limit is part of the
    key: a run that ends as it should has the same result without them.
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
    profiled: bool = False

    @property
    def name(self) -> str:
        """The run for messages: BUG/CASE/VARIANT seed N, and the label that tells it from others of
        the case.
        """
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
        """The same without the bug's probe: the program as a person wrote it.

        It has another key.
        """
        return replace(
            self,
            scripts={name: text for name, text in self.scripts.items() if name not in PROBE_FILES},
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
        lock = (runtime.environment, runtime.lock, str(runtime.pinned))
        return run_key(
            case=self.case,
            variant=self.variant,
            scripts=self.scripts,
            seed=self.seed,
            device=runtime.device,
            runtime=(*lock, runtime.python, runtime.torch),
            data=self.data_digest,
        )
