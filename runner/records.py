"""What did a run give? Run records as versioned JSON; expected ones lie with their bug."""

import json
import math
import os
import threading
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from runner import reading
from runner.errors import ResultsError
from runner.fields import fits
from runner.key import SCHEMA
from runner.measure import Record
from runner.model import Bug, Scalar

# Twice what a script may write: in a record, it is indented.
MAX_RECORD_BYTES = 128_000_000
# The metrics, nearly all of a record, come behind this much, if it is written by us.
START_BYTES = 16_384
METRICS = b',\n "metrics": '
# The folder of expected records that are of other environments; no case has that name.
VERSIONS = "versions"


@dataclass(frozen=True)
class RunRecord:
    """One run. `wall_s` in seconds, `peak_memory_mb` in 10^6 bytes; `metrics` are the script's own records, in order.

    `status` is one of `fields.STATUSES`, `reason` says why it is not `ok`. `pinned` is False where the interpreter was
    not built from the hashed lock. `data` is a hash of the data files in the folder that was named, or `cache`. `key`
    identifies what was run: two runs with one key are the same run. `injected`: the bug's fault was put back into the
    release. `repeat` counts from 1 the times that the same run was done.
    """

    schema: int
    key: str
    bug: str
    case: str
    variant: str
    seed: int
    benign: bool
    parameters: Mapping[str, Scalar]
    environment: str
    lock: str | None
    pinned: bool
    python: str
    torch: str | None
    device: str
    device_name: str | None
    driver: str | None
    machine: str
    threads: int
    status: str
    reason: str | None
    exit_code: int | None
    started: str
    wall_s: float
    peak_memory_mb: float
    data: str | None
    revision: str | None
    metrics: tuple[Record, ...]
    injected: bool = False
    repeat: int = 1

    @property
    def ok(self) -> bool:
        return self.status == "ok"


def expected_path(bug: Bug, record: RunRecord) -> Path:
    """Where the bug's expected record of the same case, variant and seed lies."""
    return bug.expected / record.case / f"{run_name(record)}.json"


def expected_records(bug: Bug, case: str) -> list[RunRecord]:
    """The expected records of a case, by name; raises ResultsError for one that cannot be read."""
    return [read_record(path) for path in _expected_paths(bug, case)]


def expected_seconds(bug: Bug, case: str) -> list[float]:
    """The `wall_s` of each of these records, without reading their metrics; raises ResultsError likewise."""
    return [_wall_s(path) for path in _expected_paths(bug, case)]


def _expected_paths(bug: Bug, case: str) -> list[Path]:
    return sorted((bug.expected / case).glob("*-seed*.json"))


def _wall_s(path: Path) -> float:
    wall_s: Any = None
    try:
        start, metrics, _ = reading.read_start(path, START_BYTES).partition(METRICS)
        if metrics:
            wall_s = json.loads(start + b"}")["wall_s"]
    except (reading.UnsafeError, ValueError, KeyError, RecursionError):
        pass
    # Whatever looks unlike what we write is read as a whole, by which all that may be wrong with it is said.
    return float(wall_s) if fits("wall_s", wall_s, float) else read_record(path).wall_s


def version_path(bug: Bug, record: RunRecord) -> Path:
    """Where the bug's map of versions keeps a run in the record's environment."""
    return bug.expected / VERSIONS / record.environment / record.case / f"{run_name(record)}.json"


def version_records(bug: Bug) -> list[RunRecord]:
    """The records behind the bug's expected map of versions; raises ResultsError for one that cannot be read."""
    return [read_record(path) for path in sorted((bug.expected / VERSIONS).glob("*/*/*-seed*.json"))]


def run_name(record: RunRecord) -> str:
    return f"{record.variant}-seed{record.seed}"


def file_name(variant: str, seed: int, key: str, repeat: int) -> str:
    """The name of a run's record in a results folder, without its ending."""
    return f"{variant}-seed{seed}-{key[:12]}" + (f"-r{repeat}" if repeat > 1 else "")


def record_name(record: RunRecord) -> str:
    """The name of a record in a results folder, without its ending."""
    return file_name(record.variant, record.seed, record.key, record.repeat)


def read_record(path: Path) -> RunRecord:
    """The record in a file; raises ResultsError where it is none, or of another schema."""
    try:
        data = reading.read_json(path, MAX_RECORD_BYTES)
    except reading.UnsafeError as error:
        raise ResultsError(f"{reading.shown(path)}: not a run record: {error}") from error
    names = {field.name for field in fields(RunRecord)}
    needed = {field.name for field in fields(RunRecord) if field.default is MISSING}
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not needed <= set(data) <= names:
        where = reading.shown(path)
        raise ResultsError(f"{where}: not a run record of schema {SCHEMA}; move it out of the results folder")
    for field in fields(RunRecord):
        if field.name in data and not fits(field.name, data[field.name], field.type):
            found = reading.brief(data[field.name])
            raise ResultsError(f"{reading.shown(path)}: not a run record: {field.name} is {found}")
    return RunRecord(**{**data, "metrics": tuple(data["metrics"])})


def encode(record: RunRecord) -> dict[str, Any]:
    """The record for JSON; numbers that are not finite become the texts NaN, Infinity and -Infinity."""
    encoded = finite(asdict(record))
    assert isinstance(encoded, dict)
    return encoded


def write_json(path: Path, data: Any, scratch: Path | None = None) -> None:
    """Write JSON so that a reader sees the old file or the whole new one; raises ResultsError.

    It is written in `scratch`, a folder on the same disk, or else beside its place, before it is moved there.
    """
    text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    temporary = (scratch or path.parent) / f".{path.name}.{os.getpid()}-{threading.get_ident()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def finite(value: Any) -> Any:
    """The value for JSON, which knows no NaN and no infinity: these become texts."""
    if isinstance(value, Mapping):
        return {key: finite(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [finite(element) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def unwritable(path: Path, error: OSError) -> ResultsError:
    """What to tell a user whose results cannot be written there."""
    return ResultsError(f"{path}: cannot be written: {error.strerror}; name a folder with room by --results")


def expected_runs(bug: Bug) -> dict[str, list[RunRecord]]:
    """By case, the expected records; cases without any are left out."""
    found = {case: expected_records(bug, case) for case in bug.cases}
    return {case: records for case, records in found.items() if records}
