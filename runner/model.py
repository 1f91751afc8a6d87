"""What is a bug made of? Frozen objects; they are made by `runner.catalog` and know nothing of files' contents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Scalar = float | int | str | bool
VARIANTS = ("buggy", "fixed")


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
class Variant:
    name: str
    script: Path
    environment: str


@dataclass(frozen=True)
class Case:
    """One scenario of a bug. `timeout_s` is in seconds; `trigger` is the iteration at which the fault first acts.

    `volatile` names metrics that differ from run to run.
    """

    bug: str
    name: str
    title: str
    benign: bool
    data: tuple[str, ...]
    trigger: int
    trigger_why: str
    seeds: tuple[int, ...]
    timeout_s: float
    parameters: Mapping[str, Scalar]
    volatile: frozenset[str]
    variants: Mapping[str, Variant]
    expectations: tuple[Expectation, ...]

    @property
    def id(self) -> str:
        return f"{self.bug}/{self.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """What the machine must bring."""
        return ("data",) if self.data else ()


@dataclass(frozen=True)
class Versions:
    package: str
    versions: tuple[str, ...]
    change: str | None = None


@dataclass(frozen=True)
class Bug:
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
    x: str
    panels: tuple[Panel, ...]
    cases: Mapping[str, Case]

    @property
    def scripts(self) -> tuple[Path, ...]:
        """Every Python file of the bug, those that the variants share included."""
        return tuple(sorted(self.directory.glob("*.py")))

    @property
    def expected(self) -> Path:
        return self.directory / "expected"


@dataclass(frozen=True)
class Target:
    """What a user names by BUG, BUG/CASE or BUG/CASE/VARIANT."""

    bug: Bug
    case: Case
    variants: tuple[str, ...]
