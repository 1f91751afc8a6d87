"""Options of a session: which bugs are run, and how.

The command line and the Python interface take them from here.
"""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypedDict

from runner.errors import UsageError

DEVICES = r"auto|cpu|cuda(:\d+)?"
# Numbers may be of NumPy, and become Python's: records are written as JSON.
PLAIN: Mapping[type, Callable[[Any], Any]] = {str: str, Integral: int, Real: float}
# What a caller from Python may hand over, by name: for lists the type of each entry.
LISTS: Mapping[str, tuple[type, str]] = {
    "label": (str, "texts in a list"),
    "seeds": (Integral, "whole numbers in a list, like [0, 1]"),
    "gpus": (Integral, "whole numbers in a list, like [0, 1]"),
}
VALUES: Mapping[str, tuple[type, str]] = {
    "jobs": (Integral, "a whole number"),
    "per_gpu": (Integral, "a whole number"),
    "repeat": (Integral, "a whole number"),
    "timeout_s": (Real, "a number of seconds"),
    "max_memory_gb": (Real, "a number of GB"),
    "device": (str, "a text, like 'cpu'"),
    "executor": (str, "a text, like 'slurm'"),
    "environment": (str, "a text, like 'torch-2.2.2'"),
}


def default_data() -> Path | None:
    """The folder that TRAINBUGS_DATA names, or None; raises UsageError where there is no such
    folder.
    """
    folder = os.environ.get("TRAINBUGS_DATA")
    if folder and not Path(folder).is_dir():
        raise UsageError(
            f"TRAINBUGS_DATA is {folder!r}: no such folder; expected one that holds, say, MNIST/raw"
        )
    return Path(folder) if folder else None


def option(flag: str, text: str, default: Any = None, metavar: str | None = None) -> Any:
    """A field with its flag and help text for the command line; a callable `default` is called for
    the value.
    """
    cli = {"flag": flag, "help": text, "metavar": metavar}
    return (
        field(default_factory=default, metadata=cli)
        if callable(default)
        else field(default=default, metadata=cli)
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to run, and how; None means: as the bug's config.json says.

    The texts are those of `trainbugs run --help`. `timeout_s` is in seconds, `max_memory_gb` in
    10^9 bytes. Without `keep`, what a build downloads is not kept.
    """

    label: tuple[str, ...] = option(
        "--label",
        "bugs of this location, or with this text in root cause or symptom; repeat it to add bugs",
        (),
        "LABEL",
    )
    seeds: tuple[int, ...] | None = option(
        "--seeds", "numbers with commas between them, like 0,1,2; default: the bug's"
    )
    device: str = option("--device", "auto, cpu, cuda or cuda:N; default: auto", "auto")
    python: Path | None = option(
        "--python", "an interpreter of your own, not the pinned one", metavar="PATH"
    )
    environment: str | None = option(
        "--environment", "another pinned environment than the bug's", metavar="NAME"
    )
    data: Path | None = option(
        "--data", "folder of data sets; default: $TRAINBUGS_DATA", default_data, "DIR"
    )
    timeout_s: float | None = option(
        "--timeout", "limit for each run; default: the bug's", metavar="SECONDS"
    )
    network: bool = option("--no-network", "runs reach nothing but localhost", True)
    max_memory_gb: float | None = option(
        "--max-memory", "limit for each run; default: 90%% of the machine's", metavar="GB"
    )
    force: bool = option("--force", "run again what has been run before", False)
    profile: bool = option(
        "--profile", "run all again, and say where the seconds went: docs/running.md", False
    )
    repeat: int = option("--repeat", "do every run K times, and say whether it is stable", 1, "K")
    jobs: int | None = option(
        "--jobs", "runs at a time; default: 1, or one for each GPU", metavar="N"
    )
    gpus: tuple[int, ...] = option("--gpus", "GPUs to use, with commas between them", (), "0,1")
    per_gpu: int = option("--runs-per-gpu", "runs at a time on each GPU; default: 1", 1, "K")
    executor: str = option(
        "--executor",
        "where to run: dask:HOST:PORT, dask:FILE or slurm; default: here",
        "local",
        "WHERE",
    )
    inject: bool = option(
        "--inject",
        "put the fault back into a release that no longer has it: docs/versions.md",
        False,
    )
    trust_environments: bool = option(
        "--trust-environments", "use environments that other users may change", False
    )
    results: Path = option(
        "--results", "the results folder; default: ./results", Path("results"), "DIR"
    )
    keep: bool = True

    def __post_init__(self) -> None:
        """Raise UsageError for a value that is out of range, or contradicts another one."""
        for problem in (
            *self._run_problems(),
            *self._machine_problems(),
            *self._cluster_problems(),
        ):
            raise UsageError(problem)

    @property
    def at_a_time(self) -> int:
        """How many runs are executed at a time on this machine."""
        return self.jobs or max(1, len(self.gpus) * self.per_gpu)

    @property
    def elsewhere(self) -> bool:
        """Whether runs happen in another environment than the bug's own, or with its fault put
        back.
        """
        return self.inject or self.environment is not None

    def _run_problems(self) -> Iterator[str]:
        if self.seeds is not None and (
            len(set(self.seeds)) < len(self.seeds) or min(self.seeds, default=0) < 0
        ):
            yield f"seeds are {self.seeds}, expected different numbers >= 0"
        if self.timeout_s is not None and not 0 < self.timeout_s < math.inf:
            yield f"timeout is {self.timeout_s}, expected a number of seconds above 0"
        if self.max_memory_gb is not None and not 0 < self.max_memory_gb < math.inf:
            yield f"memory is {self.max_memory_gb}, expected a number of GB above 0"
        if self.data is not None and not self.data.is_dir():
            yield f"{str(self.data)!r}: no such folder; expected one that holds, say, MNIST/raw"
        if self.python is not None and self.environment is not None:
            yield "an interpreter of your own and a pinned environment exclude each other; name one"

    def _machine_problems(self) -> Iterator[str]:
        if not re.fullmatch(DEVICES, self.device):
            yield f"device is {self.device!r}, expected auto, cpu, cuda or cuda:N"
        for name in ("jobs", "per_gpu", "repeat"):
            value = getattr(self, name)
            if value is not None and value < 1:
                yield f"{name} is {value}, expected a number of at least 1"
        if len(set(self.gpus)) < len(self.gpus) or min(self.gpus, default=0) < 0:
            yield f"gpus are {self.gpus}, expected different numbers >= 0; see --runs-per-gpu"
        if self.per_gpu > 1 and not self.gpus:
            yield (
                f"--runs-per-gpu is {self.per_gpu} and no GPUs are named; name them by --gpus, or "
                "see -j"
            )
        if self.gpus and self.device not in ("auto", "cuda"):
            yield f"device is {self.device!r} and gpus are named; leave one of them out"
        refused = None if self.network else _network_can_be_cut()
        if refused:
            yield (
                f"{refused}; allow it user namespaces (see `man unshare`), or leave out "
                "--no-network"
            )

    def _cluster_problems(self) -> Iterator[str]:
        if self.profile and self.executor != "local":
            yield "--profile is for this machine: leave out --executor"
        if self.executor != "local" and self.gpus:
            yield (
                "--gpus is for this machine: leave it out; a worker uses what its "
                "CUDA_VISIBLE_DEVICES shows"
            )
        if self.executor not in ("local", "slurm") and self.jobs:
            yield (
                "-j is for this machine and for slurm; Dask does as much at a time as it has "
                "workers"
            )


class OptionValues(TypedDict, total=False):
    """The options as keyword arguments of the Python interface, which takes any path and any
    sequence.
    """

    label: Iterable[str] | str
    seeds: Iterable[int] | None
    device: str
    python: Path | str | None
    environment: str | None
    data: Path | str | None
    timeout_s: float | None
    network: bool
    max_memory_gb: float | None
    force: bool
    profile: bool
    repeat: int
    jobs: int | None
    gpus: Iterable[int]
    per_gpu: int
    executor: str
    inject: bool
    trust_environments: bool
    results: Path | str
    keep: bool


def from_values(values: Mapping[str, Any]) -> Options:
    """Options from plain values: texts become paths, sequences tuples; `data` None means
    TRAINBUGS_DATA.

    Raises UsageError for an unknown name or an invalid value.
    """
    fields = Options.__dataclass_fields__
    for name in values.keys() - fields.keys():
        raise UsageError(f"there is no option {name!r}; expected some of {', '.join(fields)}")
    # An empty path is none.
    converted = {
        name: value
        for name, value in values.items()
        if not (isinstance(value, str) and value == "") and (name, value is None) != ("data", True)
    }
    for name in ("python", "data", "results"):
        if converted.get(name) is not None:
            converted[name] = Path(converted[name])
    if isinstance(converted.get("label"), str):
        converted["label"] = (converted["label"],)
    return Options(**_of_right_types(converted))


def _of_right_types(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with tuples in place of other sequences; raises UsageError for another type."""
    checked = dict(values)
    for name, (kind, expected) in LISTS.items():
        value = checked.get(name)
        if value is None:
            continue
        if not isinstance(value, Iterable):
            raise UsageError(f"{name} is {value!r}, expected {expected}")
        entries = list(value)
        if not all(isinstance(entry, kind) for entry in entries):
            raise UsageError(f"{name} is {value!r}, expected {expected}")
        checked[name] = tuple(PLAIN[kind](entry) for entry in entries)
    for name, (kind, expected) in VALUES.items():
        value = checked.get(name)
        if value is None:
            continue
        if not isinstance(value, kind):
            raise UsageError(f"{name} is {value!r}, expected {expected}")
        checked[name] = PLAIN[kind](value)
    return checked


def _network_can_be_cut() -> str | None:
    from runner.sandbox import process  # slow to import, and needed for this option only

    return process.network_can_be_cut()
