"""Detectors, their alarms and answers: frozen structs that declare what detector.json and
verdict.json may hold.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct
from packaging.specifiers import InvalidSpecifier, SpecifierSet

Need = Literal["source", "reference_runs", "in_process", "metrics"]
Severity = Literal["info", "warning", "error"]
# What a detector may answer. Two more are the benchmark's word: `peeked` is said of one that has
# looked at what tells buggy from fixed, `disturbed` of one under which the watched program did not
# do what it does alone.
OwnStatus = Literal["ok", "unsupported", "tool_error", "timeout"]
Status = Literal["ok", "unsupported", "tool_error", "timeout", "peeked", "disturbed"]
# Whose clean runs a detector is given to learn from: the fixed twin with other seeds, or other
# programs.
Reference = Literal["none", "same", "cross"]
# `upstream` is the buggy script in a release that has the real fix.
Kind = Literal["buggy", "fixed", "upstream", "control"]
TimedPart = Literal["loop", "process"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
REFERENCES: tuple[Reference, ...] = get_args(Reference)
CONTROL: Literal["control"] = "control"
# A program's script and its arguments, as detectors see them.
SCRIPT, ARGUMENTS = "program.py", ("config.json",)
# The score of a detector whose first alarm says where the fault is, says it roughly, or does not.
DIAGNOSES = ("exact", "near", "no")

# Of counts, iterations, lines and seconds: far above what can be, and far below what a table or an
# axis can show.
MAX_NUMBER = 10**12
# Of timings, which are kept in tenths of milliseconds.
MIN_SECONDS = 0.0001
Count = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Number = Annotated[int, Meta(ge=1, le=MAX_NUMBER)]
Timing = Annotated[float, Meta(ge=MIN_SECONDS, le=MAX_NUMBER)]
Text = Annotated[str, Meta(min_length=1, max_length=2000)]
Place = Annotated[str, Meta(max_length=2000)]
# Of a file below the working directory; a longer one is no path of Linux.
Artefact = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)", max_length=1000)]
DetectorName = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$(?!\n)")]
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]+\.py$(?!\n)")]
RuleName = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,19}$(?!\n)")]


class Alarm(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One alarm. `iteration` counts the program's from 1;
    None where the detector knows of no iterations.

    `seen` is the iteration in which the launcher saw a monitor raise it, whatever that says of the
    iteration; both live in one process, so that a monitor could forge it. In committed records an
    alarm is the first one of its code and severity, and `times` says how many of these count: at
    least as many as a rule asks for, where there were so many.
    """

    code: Text
    message: Annotated[str, Meta(max_length=20_000)]
    severity: Severity
    iteration: Number | None = None
    file: Place | None = None
    line: Number | None = None
    api: Place | None = None
    parameter: Place | None = None
    seen: Number | None = None
    times: Number = 1

    @property
    def when(self) -> int:
        """The iteration by which alarms are put in order; those that have none come first."""
        return self.seen or self.iteration or 0


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """When alarms count as a detection, declared before any is seen.

    Those of at least `minimum_severity`, with one of `codes` (all, where there are none), if they
    are `at_least` many.
    """

    minimum_severity: Annotated[Severity, Meta(description="default: warning")] = "warning"
    codes: Annotated[tuple[Text, ...], Meta(min_length=1, description="default: all codes")] = ()
    at_least: Annotated[int, Meta(ge=1, le=100, description="default: 1 alarm")] = 1

    def counted(self, alarms: Sequence[Alarm]) -> tuple[Alarm, ...]:
        """The alarms that count, in order of iterations (those without come first); none,
        where they are too few.
        """
        counted = [alarm for alarm in alarms if self._counts(alarm)]
        if sum(alarm.times for alarm in counted) < self.at_least:
            return ()
        return tuple(sorted(counted, key=lambda alarm: alarm.when))

    def deciding(self, counted: Sequence[Alarm]) -> Alarm | None:
        """The alarm of `counted` with which there are enough: the `at_least`-th one; None
        where there are none.
        """
        total = 0
        for alarm in counted:
            total += alarm.times
            if total >= self.at_least:
                return alarm
        return None

    def _counts(self, alarm: Alarm) -> bool:
        if self.codes and alarm.code not in self.codes:
            return False
        return SEVERITIES.index(alarm.severity) >= SEVERITIES.index(self.minimum_severity)


class Description(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """detector.json: what a detector is, what it needs, and when its alarms count."""

    schema: Literal[1]
    name: Annotated[DetectorName, Meta(description="the name of its directory")]
    version: Annotated[Text, Meta(description="of the tool")]
    title: Annotated[Text, Meta(description="what it looks for, in one line")]
    source: Annotated[Text, Meta(description="where it comes from: a link, or who proposed it")]
    needs: Annotated[
        tuple[Need, ...],
        Meta(
            min_length=1,
            description=(
                "what it looks at: the program's text, clean runs to learn from, the running "
                "process, losses and records"
            ),
        ),
    ]
    torch: Annotated[Text, Meta(description="supported versions, as in >=2.0,<3; default: all")] = (
        ""
    )
    adapter: (
        Annotated[FileName, Meta(description="a program with the verbs prepare and check")] | None
    ) = None
    monitor: (
        Annotated[
            FileName,
            Meta(
                description=(
                    "instead of an adapter: a file with attach(model, optimizer, emit) or "
                    "watch(program, emit)"
                )
            ),
        ]
        | None
    ) = None
    references: Annotated[
        tuple[Literal["same", "cross"], ...],
        Meta(
            min_length=1,
            description=(
                "with reference_runs: the fixed twin with other seeds, other clean programs, or "
                "both, scored apart"
            ),
        ),
    ] = ()
    reference_count: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=6,
                description=(
                    "with the references same: runs with as many seeds to learn from; default: 2"
                ),
            ),
        ]
        | None
    ) = None
    alarm_rules: Annotated[
        dict[RuleName, Rule],
        Meta(
            min_length=1,
            description="by name: when alarms count as a detection; each rule is scored apart",
        ),
    ]
    network: (
        Annotated[
            Text, Meta(description="why it needs the network; default: it gets localhost only")
        ]
        | None
    ) = None
    timeout_s: Annotated[
        float, Meta(gt=0, le=86_400, description="for one check; default: 600")
    ] = 600.0

    def __post_init__(self) -> None:
        """Raise ValueError for keys that contradict each other."""
        _check_unique("needs", self.needs)
        _check_unique("references", self.references)
        if self.adapter and self.monitor:
            raise ValueError("adapter and monitor exclude each other; name one of them")
        if not self.adapter and not self.monitor:
            raise ValueError("there is neither an adapter nor a monitor; name one of them")
        if ("reference_runs" in self.needs) != bool(self.references):
            raise ValueError(
                "references and the need reference_runs go together; name both or none"
            )
        if self.reference_count is not None and "same" not in self.references:
            raise ValueError(
                "reference_count is for the references same; name them, or leave it out"
            )
        if self.monitor and self.needs != ("in_process",):
            raise ValueError(
                "a monitor needs in_process and nothing else; write an adapter for more"
            )
        try:
            SpecifierSet(self.torch)
        except InvalidSpecifier as error:
            raise ValueError(f"torch is {self.torch!r}, expected a range like >=2.0,<3") from error


class Detector(Description, frozen=True, kw_only=True):
    """A detector's directory, read."""

    directory: Path

    @property
    def program(self) -> str:
        """Its adapter, or its monitor for the launcher."""
        return self.monitor or self.adapter or ""

    @property
    def has_text(self) -> bool:
        """Whether it is given the text of programs: to look at it, or to run it."""
        return "source" in self.needs or self.runs

    @property
    def runs(self) -> bool:
        """Whether it is given what a program runs with."""
        return "in_process" in self.needs

    @property
    def has_environment(self) -> bool:
        """Whether it brings packages of its own: a lock beside detector.json."""
        return (self.directory / "requirements.txt").is_file()

    @property
    def with_references(self) -> tuple[Reference, ...]:
        """The kinds of references with which it is evaluated, each by itself."""
        return self.references or ("none",)

    def supports(self, torch: str | None) -> bool:
        """Whether a version of torch is in its range; None stands for a program without torch."""
        return torch is None or SpecifierSet(self.torch).contains(
            torch.split("+")[0], prereleases=True
        )


class Invariants(Struct, frozen=True, forbid_unknown_fields=True):
    """Of a tool that checks invariants: how many it has checked,
    and how many of them were violated.
    """

    checked: Count
    violated: Count


class Training(Struct, frozen=True, forbid_unknown_fields=True):
    """How long a detector's training took, as it says: its `loop` (from the first optimizer on),
    or its `process`.
    """

    seconds: Timing
    of: TimedPart


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """What a detector answered; `reason` says why the status is not ok."""

    status: Status
    reason: Annotated[str, Meta(max_length=2000)] | None = None
    alarms: tuple[Alarm, ...] = ()
    dropped: Annotated[Count, Meta(description="alarms beyond those listed")] = 0
    training: Training | None = None
    invariants: Invariants | None = None
    artefacts: Annotated[tuple[Artefact, ...], Meta(max_length=100)] = ()


class OwnAnswer(Answer, frozen=True, forbid_unknown_fields=True):
    """verdict.json: what a detector may answer of itself."""

    status: OwnStatus


def _check_unique(name: str, values: Sequence[str]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{name} names {value!r} twice")
