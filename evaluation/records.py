"""Records of evaluations: what one check of a detector gave, and what its overhead is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from evaluation.model import (
    Alarm,
    Count,
    Description,
    DetectorName,
    Invariants,
    Kind,
    Number,
    Reference,
    Rule,
    RuleName,
    Status,
    TimedPart,
    Timing,
    Training,
)
from runner.bugs.catalogue_version import FIRST_VERSION
from runner.errors import ResultsError
from runner.field_types import Name
from runner.files import untrusted
from runner.files.flat_structs import flat_format
from runner.files.structs import MismatchError, as_struct
from runner.results.record import MAX_RECORD_BYTES, Amount
from runner.results.runtime_identity import RuntimeIdentity

SCHEMA: Literal[1] = 1
T = TypeVar("T")
R = TypeVar("R", "CheckRecord", "OverheadRecord")
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


def rewritten_as(perturb: int | None, plant: int | None) -> str:
    """The name of the folder for programs rewritten by one of these seeds;
    empty where there is none.
    """
    seeds = {"perturb": perturb, "plant": plant}
    return "".join(f"{name}-{seed}" for name, seed in seeds.items() if seed is not None)


class FaultSite(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the fault is: a file (program.py for the program itself), its line,
    the API that is at fault.
    """

    file: str
    line: Number | None
    api: str


class Seconds(Struct, frozen=True, forbid_unknown_fields=True):
    """What a check took, in seconds; `prepare` is that of learning from references,
    once for all that share them.

    Both are by the benchmark's clock, `training` by that of the detector.
    """

    prepare: Amount | None
    check: Amount
    training: Training | None


class CheckRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One detector on one program. `kind` is buggy, fixed or control,
    `references` one of model.REFERENCES.

    `trigger` is the iteration at which the bug's fault first acts. `alarms` are all of the
    detector's, whether its rules count them or not; `dropped` more were left out. Committed are the
    first of each code and severity, with `times`. `key` identifies detector, program and
    references.

    From `kit` to `reference_text` a field is None in records from before it was noted. `kit` is the
    digest of evaluation/kit that made the record, `rules` that of the alarm rules declared before
    the check, `declared` that of each of them; `isolated`: whether the program was kept from
    writing elsewhere, `isolation`: by what; `trusted`: whether the user trusted others who could
    change an environment that it ran in. `code` is the digest of all that may change the detector's
    answers, the kit among it. `program` is the digest of the program's text and parameters;
    `reference_text`: whether the detector was given the text of its references, and not only what
    was recorded of their runs.

    `perturb` and `plant` are the seeds by which the program was rewritten; None where it is as it
    is published.

    `compared`: whether the values that the watched program recorded were held against its bare run;
    False where the program does not repeat itself, so that only their number and fields were. It is
    None where nothing was compared, as in records from before it was noted. `catalogue` is the
    version of the catalogue.
    """

    schema: Literal[1]
    key: str
    detector: DetectorName
    version: str
    references: Reference
    kind: Kind
    bug: Name
    case: Name
    seed: Count
    benign: bool
    trigger: Count
    site: FaultSite
    runtime: RuntimeIdentity
    status: Status
    reason: str | None
    alarms: tuple[Alarm, ...]
    dropped: Count
    invariants: Invariants | None
    seconds: Seconds
    started: str
    revision: str | None
    kit: Hash | None = None
    rules: Hash | None = None
    code: Hash | None = None
    declared: dict[RuleName, Hash] | None = None
    program: Hash | None = None
    reference_text: bool | None = None
    perturb: Count | None = None
    plant: Count | None = None
    compared: bool | None = None
    catalogue: Annotated[int, Meta(ge=1)] = FIRST_VERSION

    @property
    def rewriting(self) -> Literal["public", "perturbed", "planted"]:
        """Which kind of programs it is of: as they are published, rewritten,
        or with a planted fault.
        """
        if self.plant is not None:
            return "planted"
        return "public" if self.perturb is None else "perturbed"

    @property
    def rewritten_as(self) -> str:
        """How the program was rewritten, and by which seed: the name of a folder;
        empty where it is as published.
        """
        return rewritten_as(self.perturb, self.plant)

    @property
    def name(self) -> str:
        """The program's, without the seed."""
        suffix = "" if self.bug == self.kind else f"/{self.kind}"
        return f"{self.bug}/{self.case}{suffix}"


# The keys of a record in the order of its file.
CHECK_KEYS = (
    *("schema", "key", "detector", "version", "references", "kind", "bug", "case", "seed"),
    *("benign", "trigger", "site", "environment", "pinned", "torch", "device", "machine"),
    *("threads", "status", "reason", "alarms", "dropped", "invariants", "seconds", "started"),
    *("revision", "kit", "rules", "isolated", "isolation", "trusted", "code", "declared"),
    *("program", "reference_text", "perturb", "plant", "compared", "catalogue"),
)
CHECK_FORMAT = flat_format(
    CheckRecord,
    "runtime",
    CHECK_KEYS,
    {"environment": str, "torch": str | None, "device": str, "threads": Count},
)


class OverheadRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Seconds of training, bare and under a detector, taken in turns;
    `of` says what was timed (see Training).

    `bare` and `watched` are claimed, by a clock in the process that is timed. `bare_wall` and
    `watched_wall` are the seconds of the whole checks by the benchmark's clock, outside of that
    process; OVERHEAD is by these alone. A record without them was measured in the first way only.
    The last five are None in records from before they were noted; see CheckRecord.
    """

    schema: Literal[1]
    key: str
    detector: DetectorName
    version: str
    references: Reference
    bug: Name
    case: Name
    seed: Count
    torch: str | None
    device: str
    machine: str
    threads: Count
    of: TimedPart
    bare: Annotated[tuple[Timing, ...], Meta(min_length=1)]
    watched: Annotated[tuple[Timing, ...], Meta(min_length=1)]
    started: str
    kit: Hash | None = None
    isolated: bool | None = None
    code: Hash | None = None
    bare_wall: tuple[Timing, ...] | None = None
    watched_wall: tuple[Timing, ...] | None = None


ExclusionReason = Literal["older code", "replaced", "other code", "uncounted", "stale"]
# Records of older code of their detector.
OLDER_CODE: ExclusionReason = "older code"
# Committed records of a detector that has records of the user's own.
REPLACED: ExclusionReason = "replaced"
# Records of programs of bugs whose scripts or parameters have changed since.
STALE: ExclusionReason = "stale"
# Records of retired bugs, of faults that are injected, of cases that nobody has run before.
UNCOUNTED: ExclusionReason = "uncounted"
# Records of rewritten programs, or by further seeds, of another code than those of published ones.
OTHER_CODE: ExclusionReason = "other code"


@dataclass(frozen=True)
class Excluded:
    """How many records of a detector do not count, and why."""

    reason: ExclusionReason
    detector: str
    count: int


@dataclass(frozen=True)
class Records:
    """Records that count; `rules` are alarm rules by their names, by the name of the detector.

    `problems` has a line for each file that cannot be read.
    """

    checks: Sequence[CheckRecord]
    overheads: Sequence[OverheadRecord]
    rules: Mapping[str, Mapping[str, Rule]]
    problems: Sequence[str] = ()
    excluded: tuple[Excluded, ...] = ()

    def excluded_count(self, reason: ExclusionReason) -> int:
        """How many records are left out for this reason."""
        return sum(excluded.count for excluded in self.excluded if excluded.reason == reason)

    def excluded_detectors(self, reason: ExclusionReason) -> tuple[str, ...]:
        """The names of the detectors that lack records for this reason, sorted."""
        names = {excluded.detector for excluded in self.excluded if excluded.reason == reason}
        return tuple(sorted(names))


def merge_records(parts: Sequence[Records]) -> Records:
    """All records of the parts; the rules of a later part replace those of an earlier one."""
    checks: list[CheckRecord] = []
    overheads: list[OverheadRecord] = []
    rules: dict[str, Mapping[str, Rule]] = {}
    problems: list[str] = []
    excluded: list[Excluded] = []
    for part in parts:
        checks += part.checks
        overheads += part.overheads
        rules |= part.rules
        problems += part.problems
        excluded += part.excluded
    return Records(checks, overheads, rules, tuple(problems), tuple(excluded))


# References, bug, case, kind of program, seed.
ProgramName = tuple[str, str, str, str, int]


def program_name(record: CheckRecord | OverheadRecord) -> ProgramName:
    """What tells a record from the others of its detector."""
    kind = record.kind if isinstance(record, CheckRecord) else "overhead"
    return record.references, record.bug, record.case, kind, record.seed


@dataclass(frozen=True)
class CommittedLine:
    """One line of a detector's committed records: its description (the first line), a check,
    or an overhead.
    """

    description: Description | None = None
    check: CheckRecord | None = None
    overhead: OverheadRecord | None = None

    @property
    def record(self) -> CheckRecord | OverheadRecord | None:
        return self.check or self.overhead

    @property
    def detector_name(self) -> str | None:
        if self.record:
            return self.record.detector
        return self.description.name if self.description else None


def _check_single(line: Any) -> None:
    """Raise ValueError where a line is not one of the three."""
    parts = (line.detector, line.check, line.overhead)
    if sum(part is not None for part in parts) != 1:
        raise ValueError("expected one of the keys detector, check, overhead")


# A line as it stands in the file.
_FLAT_LINE = msgspec.defstruct(
    "Line",
    [
        ("detector", Description | None, None),
        ("check", CHECK_FORMAT.flat | None, None),
        ("overhead", OverheadRecord | None, None),
    ],
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    namespace={"__post_init__": _check_single},
)


def parse_line(value: Any, where: str) -> CommittedLine:
    """The line in a value of JSON that was read from `where`; raises ResultsError."""
    flat: Any = _parse(value, _FLAT_LINE, where)
    check = CHECK_FORMAT.nest(flat.check) if flat.check else None
    return CommittedLine(flat.detector, check, flat.overhead)


def parse_record(value: Any, kind: type[R], where: str) -> R:
    """The record in a value of JSON that was read from `where`; raises ResultsError."""
    if issubclass(kind, OverheadRecord):
        return _parse(value, kind, where)
    return CHECK_FORMAT.nest(_parse(value, CHECK_FORMAT.flat, where))


def dump_record(record: CheckRecord | OverheadRecord) -> dict[str, Any]:
    """The record as a value for JSON."""
    if isinstance(record, CheckRecord):
        return CHECK_FORMAT.dump(record)
    values: dict[str, Any] = msgspec.to_builtins(record)
    return values


def _parse(value: Any, kind: type[T], where: str) -> T:
    try:
        return as_struct(value, kind)
    except MismatchError as error:
        raise ResultsError(
            f"{where}: not a record of an evaluation: {error}; move the file away"
        ) from error


def read_record(path: Path, kind: type[R]) -> R:
    """The record in a file; raises ResultsError where it is none, or of another schema."""
    where = untrusted.shown(path)
    try:
        return check_record(untrusted.read_bytes(path, MAX_RECORD_BYTES), kind, where)
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{where}: not a record of an evaluation: {error}") from error


def check_record(data: bytes, kind: type[R], where: str) -> R:
    """The record in the bytes of a file; raises ResultsError where it is none,
    or of another schema.
    """
    try:
        value = untrusted.parse_json(data)
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{where}: not a record of an evaluation: {error}") from error
    return parse_record(value, kind, where)
