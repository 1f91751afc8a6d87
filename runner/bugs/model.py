"""The parts of a bug, as frozen objects; `runner.bugs.catalog` makes them from config.json."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# One of the objects that a script records.
Record = Mapping[str, Any]
Scalar = float | int | str | bool
VARIANTS = ("buggy", "fixed")
# Files beside the scripts: programs about the bug, no part of any variant.
FAULT, WHY = "fault.py", "why.py"


@dataclass(frozen=True)
class Series:
    """A sequence of values taken from records: a metric, perhaps minus the same metric of other records."""

    metric: str
    where: Mapping[str, Scalar] = field(default_factory=dict)
    minus: str | None = None
    minus_where: Mapping[str, Scalar] | None = None


@dataclass(frozen=True)
class Expectation:
    """A checkable statement about the records of one variant: `reduce(series) op value`."""

    statement: str
    variant: str
    series: Series
    reduce: str
    op: str
    value: Scalar | tuple[Scalar, ...]
    tolerance: float | None = None


@dataclass(frozen=True)
class Line:
    label: str
    series: Series
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    label: str
    lines: tuple[Line, ...]
    scale: str = "linear"


@dataclass(frozen=True)
class Heatmap:
    """A figure with one cell a record: `rows` and `columns` name its place, `value` is its colour.

    What the metric `words` says is written into the cell, unless it is among `quiet`.
    """

    rows: tuple[str, ...]
    columns: str
    value: str
    label: str
    words: str
    quiet: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        return (*self.rows, self.columns, self.value, self.words)


@dataclass(frozen=True)
class Variant:
    name: str
    script: Path
    environment: str


@dataclass(frozen=True)
class Case:
    """One scenario of a bug. `timeout_s` is in seconds; `trigger` is the iteration at which the fault first acts.

    `processes` train at the same time in one run, which takes `memory_gb` of memory (None: nothing is declared).
    `volatile` names metrics that differ from run to run. A case that is not `portable` says something of its own
    environment only.
    """

    bug: str
    name: str
    title: str
    benign: bool
    portable: bool
    data: tuple[str, ...]
    tools: tuple[str, ...]
    processes: int
    trigger: int
    trigger_why: str
    seeds: tuple[int, ...]
    timeout_s: float
    parameters: Mapping[str, Scalar]
    volatile: frozenset[str]
    variants: Mapping[str, Variant]
    expectations: tuple[Expectation, ...]
    heatmap: Heatmap | None
    memory_gb: float | None = None

    @property
    def id(self) -> str:
        return f"{self.bug}/{self.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """What the machine must bring: data, c++, gpu, N-processes."""
        processes = (f"{self.processes}-processes",) if self.processes > 1 else ()
        return (*(("data",) if self.data else ()), *self.tools, *processes)


@dataclass(frozen=True)
class Versions:
    package: str
    versions: tuple[str, ...]
    change: str | None = None


@dataclass(frozen=True)
class Bug:
    """What config.json says. `retired` is the day and the reason, of a bug that is run only when it is named."""

    id: str
    directory: Path
    title: str
    source: str
    location: str
    root_cause: str
    symptom: str
    site_file: str
    site_line: int | None
    site_api: str
    environment: str
    affected: Versions | None
    fixed: Versions | None
    retired: str | None
    x: str
    panels: tuple[Panel, ...]
    cases: Mapping[str, Case]
    # Of all its cases, also where some are left out of `cases`.
    variant_scripts: frozenset[Path]

    @property
    def scripts(self) -> tuple[Path, ...]:
        """What the variants consist of: every Python file of the bug, but for `fault` and `why`."""
        return tuple(path for path in sorted(self.directory.glob("*.py")) if path.name not in (FAULT, WHY))

    @property
    def shared(self) -> tuple[Path, ...]:
        """Those of `scripts` that are no variant's own: what several of them import."""
        return tuple(path for path in self.scripts if path not in self.variant_scripts)

    @property
    def fault(self) -> Path | None:
        """The program that puts the fault back into a release without it and then runs a script, if there is one."""
        path = self.directory / FAULT
        return path if path.is_file() else None

    @property
    def why(self) -> Path | None:
        """The program that shows the root cause in the torch that runs it, if there is one."""
        path = self.directory / WHY
        return path if path.is_file() else None

    @property
    def expected(self) -> Path:
        return self.directory / "expected"


@dataclass(frozen=True)
class Target:
    """What a user names by BUG, BUG/CASE or BUG/CASE/VARIANT."""

    bug: Bug
    case: Case
    variants: tuple[str, ...]
