"""How does the user want runs to be done? Options that hold for a whole command, and what they may be."""

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner import process
from runner.errors import UsageError


@dataclass(frozen=True)
class Options:
    """How to run. None means: as the bug's config.json says. `device` is auto, cpu, cuda or cuda:N.

    `inject` puts the fault back into a release that has it no more; without `keep`, what a build downloads is not kept.
    Without `network` a run has nothing but localhost; more than `max_memory_gb` (10^9 bytes) and it is killed.
    `jobs` runs are done at a time, `per_gpu` on each of `gpus`; every run is done `repeat` times.
    """

    results: Path
    seeds: tuple[int, ...] | None = None
    device: str = "auto"
    python: Path | None = None
    environment: str | None = None
    data: Path | None = None
    force: bool = False
    timeout_s: float | None = None
    inject: bool = False
    keep: bool = True
    network: bool = True
    max_memory_gb: float | None = None
    jobs: int = 1
    gpus: tuple[int, ...] = ()
    per_gpu: int = 1
    repeat: int = 1

    def __post_init__(self) -> None:
        """Raise UsageError for what cannot be meant."""
        for problem in (*self._of_runs(), *self._of_the_machine()):
            raise UsageError(problem)

    def _of_runs(self) -> Iterator[str]:
        if self.seeds is not None and (len(set(self.seeds)) < len(self.seeds) or min(self.seeds, default=0) < 0):
            yield f"seeds are {self.seeds}, expected different numbers >= 0"
        if self.timeout_s is not None and not 0 < self.timeout_s < math.inf:
            yield f"timeout is {self.timeout_s}, expected a number of seconds above 0"
        if self.max_memory_gb is not None and not 0 < self.max_memory_gb < math.inf:
            yield f"memory is {self.max_memory_gb}, expected a number of GB above 0"
        if self.data is not None and not self.data.is_dir():
            yield f"{str(self.data)!r}: no such folder; expected one that holds, say, MNIST/raw"
        if self.python is not None and self.environment is not None:
            yield "an interpreter of your own and a pinned environment exclude each other; name one"

    def _of_the_machine(self) -> Iterator[str]:
        if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", self.device):
            yield f"device is {self.device!r}, expected auto, cpu, cuda or cuda:N"
        for name in ("jobs", "per_gpu", "repeat"):
            if getattr(self, name) < 1:
                yield f"{name} is {getattr(self, name)}, expected a number of at least 1"
        if len(set(self.gpus)) < len(self.gpus) or min(self.gpus, default=0) < 0:
            yield f"gpus are {self.gpus}, expected different numbers >= 0; see --runs-per-gpu"
        if self.gpus and self.device not in ("auto", "cuda"):
            yield f"device is {self.device!r} and gpus are named; leave one of them out"
        refused = None if self.network else process.network_can_be_cut()
        if refused:
            yield f"{refused}; allow it user namespaces (see `man unshare`), or leave out --no-network"


def default_data() -> Path | None:
    """The folder that TRAINBUGS_DATA names, or None; raises UsageError where there is no such folder."""
    given = os.environ.get("TRAINBUGS_DATA")
    if not given:
        return None
    path = Path(given).absolute()
    if not path.is_dir():
        raise UsageError(f"TRAINBUGS_DATA is {given!r}: no such folder; expected one that holds, say, MNIST/raw")
    return path
