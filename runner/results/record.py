"""What did a run give? Run records as versioned JSON; expected ones lie with their bug."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from runner.bugs.model import Record, Scalar
from runner.errors import ResultsError
from runner.files import untrusted
from runner.files.atomic import finite
from runner.results.fields import fits

SCHEMA = 1
# Twice what a script may write: in a record, it is indented.
MAX_RECORD_BYTES = 128_000_000
# The metrics, nearly all of a record, come behind this much, if it is written by us.
START_BYTES = 16_384
METRICS = b',\n "metrics": '


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
        data = untrusted.read_json(path, MAX_RECORD_BYTES)
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{untrusted.shown(path)}: not a run record: {error}") from error
    names = {field.name for field in fields(RunRecord)}
    needed = {field.name for field in fields(RunRecord) if field.default is MISSING}
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not needed <= set(data) <= names:
        where = untrusted.shown(path)
        raise ResultsError(f"{where}: not a run record of schema {SCHEMA}; move it out of the results folder")
    for field in fields(RunRecord):
        if field.name in data and not fits(field.name, data[field.name], field.type):
            found = untrusted.brief(data[field.name])
            raise ResultsError(f"{untrusted.shown(path)}: not a run record: {field.name} is {found}")
    return RunRecord(**{**data, "metrics": tuple(data["metrics"])})


def encode(record: RunRecord) -> dict[str, Any]:
    """The record for JSON; numbers that are not finite become the texts NaN, Infinity and -Infinity."""
    encoded = finite(asdict(record))
    assert isinstance(encoded, dict)
    return encoded
