"""The format of studies/<name>.json of a bug directory, and the study that is made of it."""

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from runner.bugs.bug import ENVIRONMENT, Bug, brought_name
from runner.bugs.catalog import NAME, Catalog, check, read_json
from runner.bugs.config import (
    BROUGHT,
    Count,
    DataFile,
    Place,
    Script,
    Seeds,
    Written,
    check_different,
    check_output,
)
from runner.bugs.program import VARIANTS, Variant
from runner.errors import CatalogError, UsageError
from runner.field_types import Name, Scalar, Seconds, Text
from runner.files.schema_errors import near

FOLDER = "studies"
# Columns of a study's table that are about the run; no parameter may have these names.
RUN_COLUMNS = (
    "status",
    "key",
    "environment",
    "python",
    "torch",
    "device",
    "data",
    "date",
    "revision",
)
MAX_POINTS = 10_000


class StudyScript(Written, frozen=True):
    """One program of a study."""

    script: Annotated[Script, Meta(description="File name, beside this file.")]


class StudyVariants(Written, frozen=True):
    """The programs of a study: two, or the fixed one alone,
    in a study that prepares another one.
    """

    fixed: StudyScript
    buggy: StudyScript | None = None


class Subgrid(Written, frozen=True):
    """All combinations of some values of the parameters."""

    values: Annotated[
        Mapping[Text, Annotated[tuple[Scalar, ...], Meta(min_length=1)]],
        Meta(
            min_length=1,
            description="Parameter → its values. Every part of the grid names the same parameters.",
        ),
    ]
    data: Annotated[
        tuple[DataFile, ...],
        Meta(
            description=(
                "Files in the folder of data sets. Without --data these combinations are left out."
            )
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for a value that is there twice."""
        for name, values in self.values.items():
            check_different(f"values.{name}", values)


class Centre(Written, frozen=True):
    """A parameter that gets, at each point, the value with which the fixed program did best in
    another study.
    """

    parameter: Annotated[Text, Meta(description="The parameter that is set.")]
    study: Annotated[
        Name,
        Meta(description="A study of this bug with the same grid; its committed table is read."),
    ]


class Comparison(Written, frozen=True):
    """How buggy and fixed are compared at one setting:
    mean over the seeds of the last value of the metric.
    """

    metric: Annotated[Text, Meta(description="The field of the records.")]
    better: Literal["higher", "lower"]
    tolerance: Annotated[
        float,
        Meta(
            gt=0, description="Benign: the means of the two programs differ by no more than this."
        ),
    ]
    unstable: Annotated[
        float,
        Meta(
            gt=0,
            description="Unstable: the seeds differ by more than this, or a number is not finite.",
        ),
    ]


class Shown(Written, frozen=True):
    """How the results are laid out in figures and in the summary."""

    rows: Annotated[Text, Meta(description="The parameter with a row of its own for each value.")]
    panels: Annotated[
        tuple[Text, ...],
        Meta(max_length=3, description="Parameters: a figure each, with a panel for each value."),
    ] = ()


class WrittenStudy(Written, frozen=True, kw_only=True):
    """studies/<name>.json: one bug over a grid of parameters."""

    schema: Annotated[Literal[1], Meta(description="Version of this schema.")]
    title: Annotated[Text, Meta(description="The study in one line.")]
    question: Annotated[Text, Meta(description="What it is to answer.")]
    variants: StudyVariants
    parameters: Annotated[
        Mapping[str, Scalar],
        Meta(
            description=(
                "What the scripts read. The grid overrides them: by hand, a script runs with these."
            )
        ),
    ]
    grid: Annotated[
        tuple[Subgrid, ...],
        Meta(min_length=1, max_length=100, description="All points of these parts."),
    ]
    seeds: Seeds
    timeout_s: Annotated[
        Seconds, Meta(description="A run that takes longer, in seconds, is killed and INVALID.")
    ]
    records: Annotated[
        Count,
        Meta(description="The number of records of a whole run: the settings that it trains."),
    ]
    setting: Annotated[
        Text,
        Meta(description="The number in each record that tells the trainings of one run apart."),
    ] = "learning_rate"
    comparison: Comparison
    shown: Shown
    centre: Centre | None = None
    environment: Annotated[Place | None, Meta(description="Overrides the bug's environment.")] = (
        None
    )

    def __post_init__(self) -> None:
        """Raise ValueError for what the types above cannot express."""
        for name in ("output", "device"):
            if name not in self.parameters:
                raise ValueError(f"parameters: the key {name!r} is missing")
        check_output(self.parameters)
        for problem in (*self._grid_problems(), *self._display_problems()):
            raise ValueError(problem)

    @property
    def axes(self) -> tuple[str, ...]:
        """The parameters of the grid, in the order of the file."""
        return tuple(self.grid[0].values)

    def _grid_problems(self) -> Iterator[str]:
        reserved = {*RUN_COLUMNS, "variant", "seed", "output", self.setting}
        if self.centre:
            reserved.add(self.centre.parameter)
        for part in self.grid:
            if set(part.values) != set(self.axes):
                yield (
                    f"grid: a part names {', '.join(part.values)}, the first one "
                    f"{', '.join(self.axes)}"
                )
            for name in part.values:
                if name in reserved:
                    yield f"grid: {name!r} is taken; give the parameter another name"
                if name not in self.parameters:
                    yield (
                        f"grid: {name!r} is no key of `parameters`; add it there, with a value for "
                        "a run by hand"
                    )

    def _display_problems(self) -> Iterator[str]:
        for name in (self.shown.rows, *self.shown.panels):
            if name not in self.axes:
                yield f"shown: {name!r} is no parameter of the grid{near(name, self.axes)}"


class Point(Struct, frozen=True):
    """A combination of values of the grid, in the order of its parameters;
    `data` names the files that it needs.
    """

    values: tuple[Scalar, ...]
    data: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The point for messages."""
        return ", ".join(map(str, self.values))


class Study(Struct, frozen=True):
    """A study of a bug. `folder` is the bug as its programs are found in a study:
    those in `studies`, no others.
    """

    bug: Bug
    folder: Bug
    name: str
    written: WrittenStudy
    variants: Mapping[str, Variant]
    points: tuple[Point, ...]

    @property
    def id(self) -> str:
        """BUG/NAME."""
        return f"{self.bug.id}/{self.name}"

    @property
    def case(self) -> str:
        """What stands in the place of a case's name in records and results folders."""
        return f"study-{self.name}"

    def path(self, ending: str) -> Path:
        """A file beside the study's own: `<name>.csv`, `<name>_best.png`."""
        return self.folder.directory / f"{self.name}{ending}"

    def __repr__(self) -> str:
        return f"Study({self.id!r}, {len(self.points)} points)"


def names(bug: Bug) -> list[str]:
    """The names of the bug's studies."""
    return sorted(path.stem for path in (bug.directory / FOLDER).glob("*.json"))


def load(bug: Bug, name: str) -> Study:
    """Read and check one study; raises UsageError where there is none, CatalogError for one that is
    malformed.
    """
    if name not in names(bug):
        studies = ", ".join(names(bug)) or "none"
        raise UsageError(
            f"{bug.id} has no study {name!r}{near(name, names(bug))}; it has {studies}"
        )
    path = bug.directory / FOLDER / f"{name}.json"
    written = _read(bug, name)
    try:
        points = tuple(_points(written))
    except ValueError as error:
        raise CatalogError(f"{path}: {error}") from error
    folder = structs.replace(bug, directory=path.parent, variant_scripts=_scripts(bug))
    variants: dict[str, Variant] = {}
    for variant in VARIANTS:
        program: StudyScript | None = getattr(written.variants, variant)
        if program is not None:
            variants[variant] = _variant(bug, path.parent, written, variant, program.script)
    return Study(bug, folder, name, written, variants, points)


def select(catalog: Catalog, name: str) -> list[Study]:
    """The studies named by BUG or BUG/NAME, or by the path of a bug directory; raises UsageError or
    CatalogError.
    """
    first, _, last = name.rstrip("/").rpartition("/")
    whole = name in catalog or Path(name, "config.json").exists()
    bug = catalog.bug(name.rstrip("/") if whole or not first else first)
    if not names(bug):
        raise UsageError(f"{bug.id} has no study; docs/studies.md tells how to write one")
    selected = names(bug) if whole or not first else [last]
    return [load(bug, study_name) for study_name in selected]


def _read(bug: Bug, name: str) -> WrittenStudy:
    path = bug.directory / FOLDER / f"{name}.json"
    if not NAME.fullmatch(name):
        raise CatalogError(f"{path}: a study's name has letters, digits, and . _ - only")
    return check(read_json(path, bug.directory), WrittenStudy, path)


def _scripts(bug: Bug) -> frozenset[Path]:
    """The programs of all variants of all studies: a run gets its own one of them, and every other
    Python file.
    """
    scripts: set[Path] = set()
    for name in names(bug):
        variants = _read(bug, name).variants
        for program in (variants.buggy, variants.fixed):
            if program:
                scripts.add(bug.directory / FOLDER / program.script)
    return frozenset(scripts)


def _points(written: WrittenStudy) -> Iterator[Point]:
    texts = set()
    for part in written.grid:
        for values in itertools.product(*(part.values[name] for name in written.axes)):
            text = json.dumps(values)
            if text in texts:
                raise ValueError(f"grid: the point {', '.join(map(str, values))} is there twice")
            texts.add(text)
            if len(texts) > MAX_POINTS:
                raise ValueError(f"grid: has more than {MAX_POINTS} points")
            yield Point(values, part.data)


def _variant(bug: Bug, directory: Path, written: WrittenStudy, name: str, script: str) -> Variant:
    place = written.environment
    brought = None
    if place == BROUGHT:
        brought = bug.directory / ENVIRONMENT
    elif place is None:
        brought = bug.brought
    environment = brought_name(bug.id) if brought else place or bug.environment
    return Variant(name, directory / script, environment, written.records, brought)
