"""The parts of a bug, as frozen objects; `runner.bugs.catalog` makes them from config.json."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from runner.bugs.taxonomy import Cause, Effect, Location, Realism, Stage

# One of the JSON objects that a script records.
Record = Mapping[str, Any]
Scalar = float | int | str | bool
VariantName = Literal["buggy", "fixed"]
VARIANTS: tuple[str, ...] = ("buggy", "fixed")
# A third one: the buggy script in a release that has the real fix. It is no part of the verdict.
UPSTREAM = "upstream"
# Programs beside the scripts that are about the bug, and belong to no variant.
FAULT, WHY, PROBE = "fault.py", "why.py", "probe.py"
# The folder of a lock that a bug brings.
ENVIRONMENT = "environment"


# A name that may be part of a path.
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)", max_length=80)]
Text = Annotated[str, Meta(min_length=1)]
# At most a week.
Seconds = Annotated[float, Meta(gt=0, le=604800)]
Metric = Annotated[Text, Meta(description="The field of a record; a number, or a list of numbers.")]
Where = Annotated[
    Mapping[str, Scalar], Meta(description="Only records whose fields have these values.")
]


def brought_name(bug: str) -> str:
    """The name of the environment that a bug brings, in records and among the builds."""
    return f"bug-{bug}"


def counted(number: int, thing: str) -> str:
    """For example `1 case`, `3 cases`."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the parts of config.json that are used as they are written."""


# How one number is made of many values.
Reduce = Literal["first", "last", "max", "min", "mean", "largest_drop", "distinct"]
NUMBERS = ("max", "min", "mean", "largest_drop", "distinct")


class Operand(Part, frozen=True, kw_only=True):
    """The values that are subtracted, or divided by; what it leaves out is as on the side they are compared with."""

    variant: Annotated[VariantName | None, Meta(description="Of this variant (same seed).")] = None
    metric: Annotated[Metric | None, Meta(description="This metric.")] = None
    where: Annotated[
        Where | None,
        Meta(description="Of the records with these values. A single one counts for every value."),
    ] = None
    reduce: Annotated[
        Reduce | None, Meta(description="One number made of them, which counts for every value.")
    ] = None

    def __post_init__(self) -> None:
        """Raise ValueError where nothing is named."""
        if all(named is None for named in (self.variant, self.metric, self.where, self.reduce)):
            raise ValueError(
                "expected some of variant, metric, where, reduce: without them nothing differs"
            )


class Series(Part, frozen=True):
    """A sequence of values taken from records: a metric, perhaps minus or over other values, value by value."""

    metric: Metric
    where: Where = {}
    minus: Annotated[
        VariantName | Operand | None,
        Meta(
            description="Subtract the same metric of this variant (same seed), or what an object names. Of lists, the "
            "largest absolute difference of elements is taken."
        ),
    ] = None
    minus_where: Annotated[
        Mapping[str, Scalar] | None,
        Meta(
            description="Records to subtract; of the variant `minus`, or of the same one where that is absent. A "
            "single one is subtracted from every value."
        ),
    ] = None
    over: Annotated[
        VariantName | Operand | None,
        Meta(
            description="Divide by the same metric of this variant (same seed), or by what an object names."
        ),
    ] = None
    index: Annotated[
        int | None,
        Meta(description="The metric is a list: take this element, from 0; -1 is the last one."),
    ] = None

    def __post_init__(self) -> None:
        """Raise ValueError for what the types cannot express."""
        if self.over is not None and (self.minus is not None or self.minus_where is not None):
            raise ValueError(
                "over: the values are subtracted or divided; leave out `over`, or `minus` and minus_where"
            )
        if isinstance(self.minus, Operand) and self.minus_where is not None:
            raise ValueError("minus_where: `minus` is an object; put it there, as `where`")

    @property
    def other(self) -> Operand | None:
        """What is subtracted or divided by, from whichever keys name it; None where nothing is."""
        named = self.minus if self.over is None else self.over
        if isinstance(named, Operand) or (named is None and self.minus_where is None):
            return named
        return Operand(variant=named, where=self.minus_where)


class Expectation(Series, frozen=True, kw_only=True):
    """A checkable statement about the records of one variant, for every seed: `reduce(series) op value`."""

    statement: Annotated[Text, Meta(description="What is expected, as a sentence.")]
    variant: Annotated[VariantName, Meta(description="Whose records are looked at.")]
    reduce: Annotated[
        Literal["all"] | Reduce,
        Meta(
            description="What is compared: all values in order, or one number made of them. `largest_drop` is the "
            "largest decrease from one record to the next, `distinct` the number of different values, or lists."
        ),
    ]
    op: Annotated[
        Literal["==", "!=", "<=", ">=", "close"],
        Meta(description="How it is compared with `value`. `close` needs `tolerance`."),
    ]
    value: Annotated[
        Scalar | Annotated[tuple[Scalar, ...], Meta(min_length=1)],
        Meta(description="A list only with `reduce: all`."),
    ]
    tolerance: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="Largest absolute difference that `close` allows."),
    ] = None
    relative: Annotated[
        bool, Meta(description="`tolerance` is a share of `value`: 0.05 allows 5 %.")
    ] = False
    across_seeds: Annotated[
        Literal["mean", "min", "max", "distinct"] | None,
        Meta(
            description="One check for all seeds that were run: of the numbers that `reduce` makes for each, this one "
            "is compared. Left out of maps of versions, which run one seed."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise ValueError for what can never be decided, or never hold."""
        super().__post_init__()
        if (self.op == "close") != (self.tolerance is not None):
            raise ValueError(
                f"op is {self.op!r}: `close` needs the key 'tolerance', and nothing else may have it"
            )
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        for problem in (*self._of_the_value(values), *self._of_the_reduction()):
            raise ValueError(problem)

    @property
    def variants(self) -> frozenset[str]:
        """The variants whose records are looked at."""
        return frozenset({self.variant, (self.other and self.other.variant) or self.variant})

    def _of_the_value(self, values: tuple[Scalar, ...]) -> Iterator[str]:
        texts = [value for value in values if isinstance(value, str)]
        numeric = self.reduce in NUMBERS or self.across_seeds or self.other
        if texts and (numeric or self.op not in ("==", "!=")):
            why = "a number is compared" if numeric else f"{self.op} compares numbers"
            yield f"value: is {texts[0]!r}, and {why}; expected a number"
        if self.relative and (self.op != "close" or not all(values) or texts):
            yield "relative: needs op close, and a value that is a number other than 0"

    def _of_the_reduction(self) -> Iterator[str]:
        if isinstance(self.value, tuple) and self.reduce != "all":
            yield f"value: a list as value needs reduce all, not {self.reduce}"
        if self.across_seeds and self.reduce == "all":
            yield "across_seeds: needs one number of each seed, `reduce` is all"
        other = self.other
        if other and other.metric in (None, self.metric) and other.reduce is None:
            same = other.where in (None, self.where) and other.variant in (None, self.variant)
            if same:
                verb = "divided by itself" if self.over is not None else "subtracted from itself"
                yield f"metric: {self.metric!r} of {self.variant} is {verb}; name another variant, metric or `where`"


class Line(Series, frozen=True, kw_only=True):
    """One line of a panel."""

    label: Annotated[Text, Meta(description="Text in the legend.")]
    dashed: bool = False


class Panel(Part, frozen=True):
    """One set of axes."""

    label: Annotated[Text, Meta(description="Label of the y axis.")]
    lines: Annotated[tuple[Line, ...], Meta(min_length=1, description="What is drawn.")]
    scale: Annotated[
        Literal["linear", "log", "symlog"], Meta(description="Scale of the y axis.")
    ] = "linear"


class Heatmap(Part, frozen=True):
    """A figure with one cell a record."""

    rows: Annotated[
        tuple[Text, ...],
        Meta(min_length=1, description="Metrics whose values together name a row."),
    ]
    columns: Annotated[Text, Meta(description="The metric whose values name the columns.")]
    value: Annotated[
        Text,
        Meta(
            description="The metric that is drawn, on a logarithmic scale; null where there is none."
        ),
    ]
    label: Annotated[Text, Meta(description="What the value is.")]
    words: Annotated[Text, Meta(description="The metric with a word for the cell.")]
    quiet: Annotated[
        tuple[str, ...],
        Meta(description="Words that need not be written, because the colour says the same."),
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
    """Classification. docs/taxonomy.md defines the entries of the closed lists; `validate` asks for one of each."""

    location: Annotated[Location, Meta(description="Where the fault is, in the report.")]
    root_cause: Annotated[Text, Meta(description="The mistake, in a few words.")]
    symptom: Annotated[Text, Meta(description="What can be seen, in a few words.")]
    cause: Annotated[Cause | None, Meta(description="The kind of `root_cause`.")] = None
    effect: Annotated[Effect | None, Meta(description="The kind of `symptom`.")] = None
    stage: Annotated[
        Stage | None, Meta(description="The part of training in which the fault acts.")
    ] = None


class Origin(Part, frozen=True):
    """Something that the scripts of a bug are derived from."""

    link: Annotated[str, Meta(pattern="^https?://", description="Where it is.")]
    author: Annotated[Text, Meta(description="A person or a project.")]
    licence: Annotated[
        str,
        Meta(
            pattern=r"^(none stated|[A-Za-z0-9.+-]+)$(?!\n)",
            description="SPDX identifier, or `none stated`.",
        ),
    ]


class Provenance(Part, frozen=True):
    """What the scripts of a bug, or of one case, are derived from, and how far they are from it."""

    derived_from: Annotated[
        tuple[Origin, ...], Meta(min_length=1, description="Reports and programs.")
    ]
    realism: Annotated[
        Realism, Meta(description="How near the program is to the report's; see docs/taxonomy.md.")
    ]
    differs: Annotated[
        Text, Meta(description="In one sentence what differs: model, data, library, version.")
    ]


class Site(Part, frozen=True):
    """Ground truth: where the fault is."""

    file: Annotated[
        Text, Meta(description="A script of the bug, or a file of the package at fault.")
    ]
    api: Annotated[Text, Meta(description="The API that is misused or broken.")]
    line: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="Line in that file.")
    ] = None


class Variant(Struct, frozen=True):
    """One program of a case, and the environment in which it runs.

    `records` is the number of records of a whole run; None where the case does not say. `brought` is the folder of an
    environment that the bug itself brings; None for one of the catalogue.
    """

    name: str
    script: Path
    environment: str
    records: int | None = None
    brought: Path | None = None

    @property
    def place(self) -> str:
        """What the environment is found by: its folder, or its name in the catalogue."""
        return str(self.brought or self.environment)


class Program(Struct, frozen=True):
    """What is run in a case: its variants, with their seeds, parameters and limits, and what they need.

    There is a variant `upstream` where a release has the real fix: it is run where it is named only.

    `timeout_s` is in seconds. `data` names files in the folder of data sets, `sha256` has hashes of those
    that are downloaded, `tools` what else the machine must have
    (c++, gpu). `processes` train at the same time in one run, which takes `memory_gb` (10^9 bytes; None: not declared).
    """

    variants: Mapping[str, Variant]
    parameters: Mapping[str, Scalar]
    timeout_s: float
    seeds: tuple[int, ...] = (0,)
    data: tuple[str, ...] = ()
    sha256: Mapping[str, str] = {}
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
    provenance: Provenance | None = None

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
    provenance: Provenance | None = None
    affected: Versions | None = None
    fixed: Versions | None = None
    retired: str | None = None

    @property
    def scripts(self) -> tuple[Path, ...]:
        """The programs of the variants and their modules: all Python files of the bug but `fault`, `why`, `probe`."""
        return tuple(
            path
            for path in sorted(self.directory.glob("*.py"))
            if path.name not in (FAULT, WHY, PROBE)
        )

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
    def probe(self) -> Path | None:
        """The module that measures, while a script runs, what only the expectations need, if there is one."""
        path = self.directory / PROBE
        return path if path.is_file() else None

    @property
    def brought(self) -> Path | None:
        """The folder of the environment that the bug brings and runs in, if it does."""
        return self.directory / ENVIRONMENT if self.environment == brought_name(self.id) else None

    @property
    def package(self) -> str:
        """The package whose releases have the fault, or not: torch where config.json names none."""
        return next((named.package for named in (self.affected, self.fixed) if named), "torch")

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
