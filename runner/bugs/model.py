"""The parts of a bug, as frozen objects; `runner.bugs.catalog` makes them from config.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

# One of the JSON objects that a script records.
Record = Mapping[str, Any]
Scalar = float | int | str | bool
VariantName = Literal["buggy", "fixed"]
VARIANTS: tuple[str, ...] = ("buggy", "fixed")
# Programs beside the scripts that are about the bug, and belong to no variant.
FAULT, WHY = "fault.py", "why.py"


# A name that may be part of a path.
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)", max_length=80)]
Text = Annotated[str, Meta(min_length=1)]
# At most a week.
Seconds = Annotated[float, Meta(gt=0, le=604800)]
Metric = Annotated[Text, Meta(description="The field of a record; a number, or a list of numbers.")]
Where = Annotated[Mapping[str, Scalar], Meta(description="Only records whose fields have these values.")]


def counted(number: int, thing: str) -> str:
    """For example `1 case`, `3 cases`."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the parts of config.json that are used as they are written."""


class Series(Part, frozen=True):
    """A sequence of values taken from records: a metric, perhaps minus the same metric of other records."""

    metric: Metric
    where: Where = {}
    minus: Annotated[
        VariantName | None,
        Meta(
            description="Subtract the same metric of this variant (same seed). Of lists, the largest absolute "
            "difference of elements is taken."
        ),
    ] = None
    minus_where: Annotated[
        Mapping[str, Scalar] | None,
        Meta(description="Records to subtract; of the variant `minus`, or of the same one where that is absent."),
    ] = None


class Expectation(Series, frozen=True, kw_only=True):
    """A checkable statement about the records of one variant, for every seed: `reduce(series) op value`."""

    statement: Annotated[Text, Meta(description="What is expected, as a sentence.")]
    variant: Annotated[VariantName, Meta(description="Whose records are looked at.")]
    reduce: Annotated[
        Literal["all", "first", "last", "max", "min", "mean", "largest_drop"],
        Meta(
            description="What is compared: all values in order, or one number made of them. `largest_drop` is the "
            "largest decrease from one record to the next."
        ),
    ]
    op: Annotated[
        Literal["==", "!=", "<=", ">=", "close"],
        Meta(description="How it is compared with `value`. `close` needs `tolerance`."),
    ]
    value: Annotated[
        Scalar | Annotated[tuple[Scalar, ...], Meta(min_length=1)], Meta(description="A list only with `reduce: all`.")
    ]
    tolerance: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Largest absolute difference that `close` allows.")
    ] = None

    def __post_init__(self) -> None:
        """Raise ValueError where `close` has no tolerance, or something else has one."""
        if (self.op == "close") != (self.tolerance is not None):
            raise ValueError(f"op is {self.op!r}: `close` needs the key 'tolerance', and nothing else may have it")


class Line(Series, frozen=True, kw_only=True):
    """One line of a panel."""

    label: Annotated[Text, Meta(description="Text in the legend.")]
    dashed: bool = False


class Panel(Part, frozen=True):
    """One set of axes."""

    label: Annotated[Text, Meta(description="Label of the y axis.")]
    lines: Annotated[tuple[Line, ...], Meta(min_length=1, description="What is drawn.")]
    scale: Annotated[Literal["linear", "log", "symlog"], Meta(description="Scale of the y axis.")] = "linear"


class Heatmap(Part, frozen=True):
    """A figure with one cell a record."""

    rows: Annotated[tuple[Text, ...], Meta(min_length=1, description="Metrics whose values together name a row.")]
    columns: Annotated[Text, Meta(description="The metric whose values name the columns.")]
    value: Annotated[
        Text, Meta(description="The metric that is drawn, on a logarithmic scale; null where there is none.")
    ]
    label: Annotated[Text, Meta(description="What the value is.")]
    words: Annotated[Text, Meta(description="The metric with a word for the cell.")]
    quiet: Annotated[
        tuple[str, ...], Meta(description="Words that need not be written, because the colour says the same.")
    ] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that the figure reads."""
        return (*self.rows, self.columns, self.value, self.words)


class Versions(Part, frozen=True):
    """Versions of a package."""

    package: Annotated[Text, Meta(description="Distribution name.")]
    versions: Annotated[tuple[str, ...], Meta(description="Versions in which it was measured.")]
    change: Annotated[str | None, Meta(description="Link to the change that mended it.")] = None


class Labels(Part, frozen=True):
    """Classification."""

    location: Annotated[
        Literal["user code", "framework", "compiler", "library", "hardware"], Meta(description="Where the fault is.")
    ]
    root_cause: Annotated[Text, Meta(description="The mistake, in a few words.")]
    symptom: Annotated[Text, Meta(description="What can be seen, in a few words.")]


class Site(Part, frozen=True):
    """Ground truth: where the fault is."""

    file: Annotated[Text, Meta(description="A script of the bug, or a file of the package at fault.")]
    api: Annotated[Text, Meta(description="The API that is misused or broken.")]
    line: Annotated[Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="Line in that file.")] = None


class Variant(Struct, frozen=True):
    """One program of a case, and the environment in which it runs."""

    name: str
    script: Path
    environment: str


class Program(Struct, frozen=True):
    """What is run in a case: its variants, with their seeds, parameters and limits, and what they need.

    `timeout_s` is in seconds. `data` names files in the folder of data sets, `tools` what else the machine must have
    (c++, gpu). `processes` train at the same time in one run, which takes `memory_gb` (10^9 bytes; None: not declared).
    """

    variants: Mapping[str, Variant]
    parameters: Mapping[str, Scalar]
    timeout_s: float
    seeds: tuple[int, ...] = (0,)
    data: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    processes: int = 1
    memory_gb: float | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """What the machine must have: data, c++, gpu, N-processes."""
        processes = (f"{self.processes}-processes",) if self.processes > 1 else ()
        return (*(("data",) if self.data else ()), *self.tools, *processes)


class Oracle(Struct, frozen=True):
    """What is expected of a case's records; `volatile` names metrics that differ from run to run."""

    expectations: tuple[Expectation, ...] = ()
    volatile: frozenset[str] = frozenset()


class GroundTruth(Struct, frozen=True):
    """Where the fault is, and the iteration (from 1) in which it first acts: detectors are scored on both."""

    site: Site
    iteration: int = 1
    why: str = ""


class Plot(Struct, frozen=True):
    """The figure of a case: panels of curves over `x`, or a heat map instead of them."""

    x: str = "step"
    panels: tuple[Panel, ...] = ()
    heatmap: Heatmap | None = None


class Case(Struct, frozen=True):
    """One scenario of a bug. The numbers of a case that is not `portable` hold in its own environment only."""

    bug: str
    name: str
    title: str
    program: Program
    oracle: Oracle
    truth: GroundTruth
    plot: Plot
    benign: bool = False
    portable: bool = True

    @property
    def id(self) -> str:
        """BUG/CASE."""
        return f"{self.bug}/{self.name}"

    def __repr__(self) -> str:
        return f"Case({self.id!r}, {counted(len(self.program.seeds), 'seed')}{', benign' if self.benign else ''})"


class Bug(Struct, frozen=True):
    """A bug, as config.json describes it. `retired` is the day and the reason; it then runs only when it is named."""

    id: str
    directory: Path
    title: str
    source: str
    labels: Labels
    site: Site
    environment: str
    cases: Mapping[str, Case]
    # The scripts of all its cases, also of those that a filter has left out of `cases`.
    variant_scripts: frozenset[Path]
    affected: Versions | None = None
    fixed: Versions | None = None
    retired: str | None = None

    @property
    def scripts(self) -> tuple[Path, ...]:
        """The programs of the variants and their modules: every Python file of the bug except `fault` and `why`."""
        return tuple(path for path in sorted(self.directory.glob("*.py")) if path.name not in (FAULT, WHY))

    @property
    def shared(self) -> tuple[Path, ...]:
        """The modules that variants import: those of `scripts` that are not the script of a variant."""
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
        """The folder of the bug's expected records and figures."""
        return self.directory / "expected"

    def __repr__(self) -> str:
        return f"Bug({self.id!r}, {counted(len(self.cases), 'case')}{', retired' if self.retired else ''})"


class Target(Struct, frozen=True):
    """A case and the variants of it to run: what a user names by BUG, BUG/CASE or BUG/CASE/VARIANT."""

    bug: Bug
    case: Case
    variants: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Target({self.case.id!r}, {' and '.join(self.variants)})"
