"""The format of a bug's config.json: its keys, what they mean, and which values they may have."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from runner.bugs.case import Site
from runner.bugs.declared import Declared, Harm, Origins
from runner.bugs.figures import Heatmap, Panel
from runner.bugs.labels import Labels, Provenance, Versions
from runner.bugs.taxonomy import FixKind
from runner.expectations.expectation import Expectation
from runner.field_types import Day, Name, Scalar, Seconds, Text

# The longest ID: the name of an environment that the bug brings is longer, and must be a name, too.
MAX_ID = 76
# The folder of results of programs that are rewritten for detectors.
REWRITTEN = "rewritten"
# Folders in a results folder that are of no bug: clean programs of detectors, records of detectors,
# logs of jobs.
RESERVED_IDS = ("control", "detectors", "slurm", REWRITTEN)
# An environment of the catalogue, or the one that the bug brings.
BROUGHT = "./environment"
Place = Annotated[
    str, Meta(pattern=r"^(\./environment|[A-Za-z0-9][A-Za-z0-9._-]*)$(?!\n)", max_length=80)
]
OUTPUT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
# The maximum is the largest seed that NumPy accepts.
Seed = Annotated[int, Meta(ge=0, le=4294967295)]
Count = Annotated[int, Meta(ge=1, le=10**9)]
Seeds = Annotated[tuple[Seed, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
DataFile = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$", max_length=200),
]
# Folders of maps of versions, and of the runs of studies.
CaseName = Annotated[
    str, Meta(pattern=r"^(?!versions$|study-)[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)", max_length=80)
]
Script = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\.py$(?!\n)", max_length=80)]


class Written(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all parts of the file: a key without a default is required,
    and an unknown (misspelt) key is an error.
    """


class WrittenVariant(Written, frozen=True):
    """One program of a case."""

    script: Annotated[Script, Meta(description="File name, beside config.json.")]
    environment: Annotated[
        Place | None,
        Meta(
            description=(
                "Overrides the bug's environment: the same script may run under two versions."
            )
        ),
    ] = None
    records: Annotated[Count | None, Meta(description="Overrides the case's records.")] = None
    fix: Annotated[
        FixKind | None,
        Meta(description="Of the variant `fixed`: what its change is; see docs/taxonomy.md."),
    ] = None


class WrittenUpstream(Written, frozen=True):
    """The buggy script in a release that has the real fix:
    expected to behave as the fixed one does.
    """

    environment: Annotated[
        Place, Meta(description="With the first release that has the fix and an environment here.")
    ]
    records: Annotated[Count | None, Meta(description="Overrides the case's records.")] = None


class WrittenVariants(Written, frozen=True):
    """The two programs of a case, and perhaps the first one in a release with the real fix."""

    buggy: WrittenVariant
    fixed: WrittenVariant
    upstream: Annotated[
        WrittenUpstream | None,
        Meta(description="No part of the verdict; `run --upstream` runs it."),
    ] = None


class Trigger(Written, frozen=True):
    """When the fault first acts; the delay of a detector is counted from here."""

    iteration: Annotated[
        int,
        Meta(
            ge=1,
            le=10**9,
            description="The training iteration, counted from 1, at which the fault first acts.",
        ),
    ]
    why: Annotated[Text, Meta(description="What happens there.")]


class WrittenCase(Written, frozen=True):
    """One scenario of the bug."""

    title: Annotated[Text, Meta(description="The scenario in one line.")]
    trigger: Trigger
    variants: WrittenVariants
    expectations: Annotated[
        tuple[Expectation, ...],
        Meta(
            description=(
                "All of them, for every seed, make the verdict REPRODUCED. There is a verdict "
                "where each variant has one; before that, `run --record-only` gives the numbers."
            )
        ),
    ] = ()
    benign: Annotated[
        bool,
        Meta(
            description=(
                "True where the code is wrong, but its result is as good as the fixed one's."
            )
        ),
    ] = False
    portable: Annotated[
        bool,
        Meta(
            description=(
                "False where the numbers are those of the bug's own environment: `versions BUG`, "
                "`run BUG --environment` and `--inject` leave the case out unless it is named."
            )
        ),
    ] = True
    never_run: Annotated[
        bool,
        Meta(
            description=(
                "True as long as nobody has run it, or only with the fault put back: the case is "
                "in no count and no score, and runs when it is named."
            )
        ),
    ] = False
    heatmap: Annotated[
        Heatmap | None, Meta(description="A heat map in the place of the curves.")
    ] = None
    records: Annotated[
        Count | None,
        Meta(
            description=(
                "The number of records of a whole run, with any seed. A run with another one is "
                "INVALID."
            )
        ),
    ] = None
    data: Annotated[
        tuple[DataFile, ...],
        Meta(
            description=(
                "Files that the case reads from the folder of data sets (downloaded, or named by "
                "--data)."
            )
        ),
    ] = ()
    needs: Annotated[
        tuple[Literal["c++", "gpu"], ...],
        Meta(description="What else the machine must bring: a C++ compiler, a GPU."),
    ] = ()
    memory_gb: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description=(
                "Memory that a run needs, all its processes together, in GB; default: from "
                "expected runs."
            )
        ),
    ] = None
    seeds: Annotated[Seeds | None, Meta(description="Overrides the bug's seeds.")] = None
    timeout_s: Annotated[Seconds | None, Meta(description="Overrides the bug's timeout_s.")] = None
    parameters: Annotated[
        Mapping[str, Scalar], Meta(description="Overrides the bug's parameters.")
    ] = {}
    parameter_origins: Annotated[
        Origins, Meta(description="Overrides the bug's parameter_origins.")
    ] = {}
    provenance: Annotated[
        Provenance | None, Meta(description="Overrides the bug's provenance.")
    ] = None
    harm: Annotated[Harm | None, Meta(description="Overrides the harm that the bug declares.")] = (
        None
    )

    def __post_init__(self) -> None:
        """Raise ValueError for what the types above cannot express."""
        for key in ("data", "needs", "seeds"):
            check_different(key, getattr(self, key) or ())
        check_output(self.parameters)


class WrittenPlot(Written, frozen=True):
    """How the figures of a case are drawn."""

    x: Annotated[Text, Meta(description="Field of the records for the x axis.")]
    panels: Annotated[
        tuple[Panel, ...], Meta(min_length=1, max_length=4, description="Drawn side by side.")
    ]


class Status(Written, frozen=True):
    """Only of a retired bug: it keeps its directory and its ID, and runs only when it is named."""

    state: Literal["retired"]
    since: Annotated[Day, Meta(description="The day.")]
    reason: Annotated[Text, Meta(description="Why; see docs/contributing-bugs.md.")]


class Config(Written, frozen=True):
    """config.json of a bug directory: everything that the runner knows about the bug."""

    schema: Annotated[Literal[1], Meta(description="Version of this schema.")]
    id: Annotated[Name, Meta(description="The bug's public ID; also the name of its directory.")]
    title: Annotated[Text, Meta(description="The bug in one line.")]
    source: Annotated[str, Meta(pattern="^https?://", description="Link to the report.")]
    labels: Labels
    site: Site
    environment: Annotated[
        Place,
        Meta(
            description=(
                "A directory under environments/, or ./environment for the one beside this file."
            )
        ),
    ]
    timeout_s: Annotated[
        Seconds, Meta(description="A run that takes longer, in seconds, is killed and INVALID.")
    ]
    seeds: Annotated[Seeds, Meta(description="Seeds that are run by default.")]
    parameters: Annotated[
        Mapping[str, Scalar],
        Meta(
            description=(
                "What the scripts read. `output` names the file of records without .json; `device` "
                "is auto, cpu or cuda; the runner sets `seed` and `device`."
            )
        ),
    ]
    plot: WrittenPlot
    cases: Annotated[
        Mapping[CaseName, WrittenCase],
        Meta(min_length=1, max_length=100, description="Scenarios by name."),
    ]
    sha256: Annotated[
        Mapping[DataFile, Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]],
        Meta(
            description=(
                "Hashes of data files that scripts download: these alone are kept for the next run."
            )
        ),
    ] = {}
    parameter_origins: Annotated[
        Origins,
        Meta(
            description=(
                "Whose choice each parameter is: `source`, if it is the value of the report or of "
                "the program that it is about; `ours`; or `ours; source: ` and their value."
            )
        ),
    ] = {}
    provenance: Provenance | None = None
    declared: Declared | None = None
    status: Status | None = None
    affected: Annotated[Versions | None, Meta(description="Versions that show the bug.")] = None
    fixed: Annotated[
        Versions | None, Meta(description="Versions that do not, and the change that mended it.")
    ] = None
    processes: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description=(
                "Processes that train at the same time in one run, each with the run's threads."
            ),
        ),
    ] = 1
    volatile: Annotated[
        tuple[Text, ...],
        Meta(
            description=(
                "Metrics that differ from run to run, times above all: left out of drift, and not "
                "judged."
            )
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for what the types above cannot express."""
        if self.id in RESERVED_IDS:
            raise ValueError(
                f"id: {self.id!r} is taken, for a folder of results; choose another ID"
            )
        if len(self.id) > MAX_ID and BROUGHT in self.places:
            raise ValueError(
                f"id: has {len(self.id)} characters, expected at most {MAX_ID} beside {BROUGHT}"
            )
        check_different("seeds", self.seeds)
        check_different("volatile", self.volatile)
        for name in ("output", "device"):
            if name not in self.parameters:
                raise ValueError(f"parameters: the key {name!r} is missing")
        check_output(self.parameters)

    @property
    def places(self) -> set[str]:
        """The environments that are named."""
        places = {self.environment}
        for case in self.cases.values():
            variants = case.variants
            for variant in (variants.buggy, variants.fixed, variants.upstream):
                if variant and variant.environment:
                    places.add(variant.environment)
        return places


def check_different(key: str, values: Iterable[Scalar]) -> None:
    """Raise ValueError where a value occurs twice; `key` is the key that the message names."""
    values_before: set[Scalar] = set()
    for value in values:
        if value in values_before:
            raise ValueError(f"{key}: {value!r} is there twice")
        values_before.add(value)


def check_output(parameters: Mapping[str, Scalar]) -> None:
    """Raise ValueError unless `output` is a plain file name: with another one, the records could be
    any file.
    """
    output = parameters.get("output", "metrics")
    if (
        not isinstance(output, str)
        or not OUTPUT.fullmatch(output)
        or len(output) > 80
        or output == "config"
    ):
        raise ValueError(
            f"parameters.output: is {output!r}, expected the name of a file without .json, not "
            "config"
        )
