"""Run records and verdicts as versioned JSON: their fields, and functions that read and write
them.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from runner.bugs.catalogue_version import FIRST_VERSION
from runner.errors import ResultsError
from runner.field_types import Name, Record, Scalar
from runner.files import untrusted
from runner.files.atomic import finite
from runner.files.flat_structs import flat_format
from runner.files.structs import MismatchError, as_struct
from runner.plurals import counted
from runner.results.runtime_identity import RuntimeIdentity, Version

SCHEMA: Final = 1
# Twice what a script may write, because a record is indented.
MAX_RECORD_BYTES = 128_000_000
# In our own files the metadata, which comes before the metrics, fits into the first 16 KiB.
START_BYTES = 16_384
METRICS = b',\n "metrics": '

Status = Literal[
    "ok",
    "crashed",
    "killed",
    "timeout",
    "no records",
    "not whole",
    "other data",
    "environment broken",
    "refused",
]
Variant = Annotated[str, Meta(pattern=r"^(buggy|fixed|upstream)$(?!\n)")]
Key = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Time = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT[0-9:.]{8,15}([+-]\d\d:\d\d|Z)$(?!\n)")]
Seed = Annotated[int, Meta(ge=0)]
Repeat = Annotated[int, Meta(ge=1)]
# An amount of seconds or of MB; the maximum is far above real values, and far below what an axis
# can show.
Amount = Annotated[float, Meta(ge=0, le=1e12)]


# Fields that are left out of the file where they are not known, as in records from before them.
UNKNOWN_LEFT_OUT = ("metrics_digest", "whole", "isolated", "isolation", "trusted", "upstream")


class RunRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, weakref=True):
    """One run. `wall_s` in seconds, `peak_memory_mb` in 10^6 bytes;
    `metrics` are the script's own records, in order.

    `reason` says why the status is not `ok`. `pinned` is False where the interpreter was not built
    from the hashed lock. `data` is a hash of the data files in the folder that was named, or
    `cache`. `key` identifies what was run: two runs with one key are the same run. `injected`: the
    bug's fault was put back into the release. `repeat` counts from 1 the times that the same run
    was done. `metrics_digest` is a hash of the key and the metrics, `whole` the number of records
    that a whole run has, `isolated` whether the program could write to its own folder only,
    `isolation` what kept it to that (None: not known). `trusted`: others than the user and root
    could change the environment, and the user trusted them. `catalogue` is the version of the
    catalogue.
    """

    schema: Literal[1]
    key: Key
    bug: Name
    case: Name
    variant: Variant
    seed: Seed
    benign: bool
    parameters: dict[str, Scalar]
    runtime: RuntimeIdentity
    lock: str | None
    python: Version
    device_name: str | None
    driver: str | None
    status: Status
    reason: str | None
    exit_code: int | None
    started: Time
    wall_s: Amount
    peak_memory_mb: Amount
    data: str | None
    revision: str | None
    metrics: tuple[Record, ...]
    injected: bool = False
    repeat: Repeat = 1
    metrics_digest: Key | None = None
    whole: int | None = None
    catalogue: Annotated[int, Meta(ge=1)] = FIRST_VERSION

    @property
    def ok(self) -> bool:
        """Whether the run ended as it should."""
        return self.status == "ok"

    def __repr__(self) -> str:
        run = f"{self.bug}/{self.case}/{self.variant}"
        repeat = f", repeat {self.repeat}" if self.repeat > 1 else ""
        return (
            f"RunRecord({run!r}, seed {self.seed}{repeat}, {self.status}, "
            f"{counted(len(self.metrics), 'record')})"
        )


# The keys of a record's file, in its order.
KEYS = (
    *("schema", "key", "bug", "case", "variant", "seed", "benign", "parameters"),
    *("environment", "lock", "pinned", "python", "torch", "device", "device_name", "driver"),
    *("machine", "threads", "status", "reason", "exit_code", "started", "wall_s"),
    *("peak_memory_mb", "data", "revision", "metrics", "injected", "repeat"),
    *("metrics_digest", "whole", "isolated", "isolation", "trusted", "catalogue"),
)
RUN_FORMAT = flat_format(RunRecord, "runtime", KEYS)


class JudgedRun(Struct, frozen=True, kw_only=True):
    """A run behind a verdict: the fields that identify its record."""

    variant: Variant
    seed: Seed
    repeat: Repeat = 1
    status: Status
    key: Key


class CheckedStatement(Struct, frozen=True, kw_only=True):
    """An expectation on the records of one seed, or of all (`seed` None);
    `holds` is None where it is undecided.
    """

    statement: str
    seed: Seed | None
    holds: bool | None
    explanation: str


class Repeats(Struct, frozen=True, kw_only=True):
    """How a verdict varied: how often each one came out,
    and the largest distance of a metric between repeats.
    """

    label: str
    verdicts: dict[str, int]
    spread: float | str | None


class JudgedUpstream(Struct, frozen=True, kw_only=True):
    """Whether the buggy script behaves as the fixed one in a release with the real fix; None:
    undecided.
    """

    behaves: bool | None
    reason: str


class VerdictRecord(Struct, frozen=True, kw_only=True):
    """verdict.json of a case: the verdict, its checks,
    and the runs behind it. Non-finite numbers are texts.
    """

    bug: Name
    case: Name
    benign: bool
    verdict: str | None
    injected: bool = False
    environments: tuple[str, ...] = ()
    reason: str
    drift: float | str | None
    repeats: Repeats | None = None
    upstream: JudgedUpstream | None = None
    checks: tuple[CheckedStatement, ...]
    runs: Annotated[tuple[JudgedRun, ...], Meta(min_length=1)]

    def __repr__(self) -> str:
        verdict, runs = self.verdict or "no verdict", counted(len(self.runs), "run")
        return f"VerdictRecord('{self.bug}/{self.case}', {verdict}, {runs})"


def run_name(record: RunRecord) -> str:
    """The name of an expected record, without its ending."""
    return f"{record.variant}-seed{record.seed}"


def file_name(variant: str, seed: int, key: str, repeat: int) -> str:
    """The name of a run's record in a results folder, without its ending."""
    return f"{variant}-seed{seed}-{key[:12]}" + (f"-r{repeat}" if repeat > 1 else "")


def record_name(record: RunRecord) -> str:
    """The name of a record in a results folder, without its ending."""
    return file_name(record.variant, record.seed, record.key, record.repeat)


def digest(key: str, metrics: Sequence[Record]) -> str | None:
    """A hash of a run's metrics and key: what `metrics_digest` must be.

    None where there are no metrics. It tells that metrics were edited, cut off or taken from
    another run. It is no signature: whoever edits a record and computes its digest anew is
    believed.
    """
    if not metrics:
        return None
    try:
        text = _digest_text(key, metrics)
    except ValueError:  # Not all numbers are finite.
        text = _digest_text(key, finite(metrics))
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_text(key: str, metrics: Sequence[Record]) -> str:
    return json.dumps([key, metrics], sort_keys=True, separators=(",", ":"), allow_nan=False)


def read_record(path: Path) -> RunRecord:
    """The record in a file; raises ResultsError where there is none, one of another schema, or of
    other metrics.

    That is, metrics which do not match the record's digest; records from before that field have
    none.
    """
    where = untrusted.shown(path)
    try:
        data = untrusted.read_json(path, MAX_RECORD_BYTES)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ResultsError(
                f"{where}: not a run record of schema {SCHEMA}; move it out of the results folder"
            )
        record = RUN_FORMAT.load(data)
    except (untrusted.UnsafeError, MismatchError) as error:
        raise ResultsError(f"{where}: not a run record: {error}") from error
    if record.metrics_digest not in (None, digest(record.key, record.metrics)):
        raise ResultsError(
            f"{where}: its metrics are not those of the run: they do not match metrics_digest"
        )
    return record


def read_verdict(path: Path) -> VerdictRecord:
    """The verdict in a file; raises ResultsError where there is none."""
    where = untrusted.shown(path)
    try:
        return as_struct(untrusted.read_json(path, MAX_RECORD_BYTES), VerdictRecord)
    except (untrusted.UnsafeError, MismatchError) as error:
        raise ResultsError(
            f"{where}: not a verdict: {error}; move it out of the results folder"
        ) from error


def encode(record: RunRecord | VerdictRecord) -> dict[str, Any]:
    """The record for JSON; numbers that are not finite become the texts NaN, Infinity and
    -Infinity.
    """
    if isinstance(record, RunRecord):
        return _without_unknown(RUN_FORMAT.dump(record))
    return _without_unknown(msgspec.to_builtins(record))


def _without_unknown(encoded: dict[str, Any]) -> dict[str, Any]:
    return {
        name: finite(value)
        for name, value in encoded.items()
        if value is not None or name not in UNKNOWN_LEFT_OUT
    }
