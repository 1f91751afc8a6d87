"""Resources of the machine: slots with CPU cores, GPUs and memory, which jobs take and give back.

A share of the cores is set as the affinity of the thread that does the job, and every process that
it starts inherits it, so that concurrent jobs do not slow each other down. It changes no number of
threads, and so no result.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from runner.sandbox.limits import default_memory_mb


@dataclass(frozen=True)
class Need:
    """What a job needs while it runs: `slots` (one for each process that trains), `memory_gb` (10^9
    bytes), a GPU.
    """

    slots: int = 1
    memory_gb: float = 0.0
    gpu: bool = False


@dataclass(frozen=True)
class Share:
    """What a job gets: slots, their CPU cores (empty: all cores), the number of its GPU (None: no
    GPU is assigned).
    """

    need: Need
    slots: tuple[int, ...] = ()
    cores: tuple[int, ...] = ()
    gpu: int | None = None


class Slots:
    """`jobs` slots that divide the cores among them, and for each GPU `per_gpu` jobs at a time.

    Without `gpus` no GPU is assigned, and jobs that need one take slots only. `memory_gb` is in
    10^9 bytes; None: most of the machine's.
    """

    def __init__(
        self,
        jobs: int,
        gpus: Sequence[int] = (),
        per_gpu: int = 1,
        cores: Sequence[int] | None = None,
        memory_gb: float | None = None,
    ) -> None:
        self.jobs = jobs
        self.cores = sorted(os.sched_getaffinity(0) if cores is None else cores)
        self.has_gpus = bool(gpus)
        self.memory_gb = default_memory_mb() / 1000 if memory_gb is None else memory_gb
        self._free = list(range(jobs))
        self._gpus = [gpu for _ in range(per_gpu) for gpu in gpus]
        self._memory_gb = 0.0

    def take(self, need: Need) -> Share | None:
        """A share that satisfies the need, or None while too much is taken.

        A job that never fits runs alone.
        """
        idle = len(self._free) == self.jobs
        slots = min(need.slots, self.jobs)
        memory = self._memory_gb + need.memory_gb <= self.memory_gb
        if (
            slots > len(self._free)
            or not (memory or idle)
            or (need.gpu and self.has_gpus and not self._gpus)
        ):
            return None
        slots_taken, self._free = tuple(self._free[:slots]), self._free[slots:]
        self._memory_gb += need.memory_gb
        gpu = self._gpus.pop(0) if need.gpu and self.has_gpus else None
        return Share(need, slots_taken, self._cores_of(slots_taken), gpu)

    def give(self, share: Share) -> None:
        """Take a share back."""
        self._free = sorted([*self._free, *share.slots])
        self._memory_gb -= share.need.memory_gb
        if share.gpu is not None:
            self._gpus.append(share.gpu)

    def _cores_of(self, slots: Sequence[int]) -> tuple[int, ...]:
        """The cores of some slots; where there are more slots than cores, slots share one."""
        if self.jobs == 1:
            return ()
        count = len(self.cores)
        if self.jobs > count:
            return tuple(sorted({self.cores[slot % count] for slot in slots}))
        parts = [
            self.cores[slot * count // self.jobs : (slot + 1) * count // self.jobs]
            for slot in slots
        ]
        return tuple(sorted(core for part in parts for core in part))


def pin(share: Share) -> None:
    """Bind the calling thread, and every process that it will start, to the cores of a share."""
    if share.cores:
        os.sched_setaffinity(0, share.cores)
