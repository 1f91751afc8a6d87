"""What did a run give, and where is it kept? Run records as versioned JSON; the only owner of output paths."""

import errno
import itertools
import json
import math
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from runner import index, reading
from runner.errors import ResultsError
from runner.fields import fits
from runner.key import SCHEMA
from runner.measure import Record
from runner.model import Bug, Scalar
from runner.scratch import Scratch, remove

# Twice what a script may write: in a record, it is indented.
MAX_RECORD_BYTES = 128_000_000
# What a verdict tells of its runs, as far as their files are named by it.
NAMING = {"variant": str, "seed": int, "key": str, "repeat": int}
# The folder of expected records that are of other environments; no case has that name.
VERSIONS = "versions"
# With less than that free a disk counts as full.
ROOM_BYTES = 65536


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


@dataclass(frozen=True)
class Store:
    """A results folder: <root>/<bug>/<case>/<variant>-seed<seed>-<key>.json, logs in `logs` beside it."""

    root: Path

    @cached_property
    def scratch(self) -> Scratch:
        """Where this object keeps what is not finished; raises ResultsError where nothing can be written."""
        try:
            return Scratch(self.root)
        except OSError as error:
            raise _unwritable(self.root, error) from error

    def case_directory(self, bug: str, case: str) -> Path:
        return self.root / bug / case

    def record_path(self, record: RunRecord) -> Path:
        return self.case_directory(record.bug, record.case) / f"{_file_name(record)}.json"

    def verdict_path(self, bug: str, case: str, injected: bool = False) -> Path:
        return self.case_directory(bug, case) / f"verdict{'-injected' if injected else ''}.json"

    def log_path(self, record: RunRecord, stream: str) -> Path:
        """Where the run's `stdout` or `stderr` is kept."""
        return self.case_directory(record.bug, record.case) / "logs" / f"{_file_name(record)}.{stream}"

    def find(self, bug: str, case: str, file_name: str, key: str) -> RunRecord | None:
        """The finished (`ok`) run with that key, or None; a file that cannot be read counts as none."""
        path = self.case_directory(bug, case) / f"{file_name}.json"
        try:
            record = read_record(path)
        except ResultsError:
            return None
        return record if record.ok and record.key == key else None

    def save(self, record: RunRecord) -> Path:
        """Write the record atomically; raises ResultsError."""
        path = self.record_path(record)
        write_json(path, encode(record), self.scratch.path)
        index.append(self.root, path, read_record)
        return path

    def save_verdict(self, bug: str, case: str, injected: bool, verdict: Mapping[str, object]) -> None:
        """Write a verdict atomically; raises ResultsError."""
        write_json(self.verdict_path(bug, case, injected), verdict, self.scratch.path)

    def other_repeats(self, records: Sequence[RunRecord]) -> list[RunRecord]:
        """Repeats of these runs that were done by earlier commands, as far as there are finished ones of every run."""
        first = [record for record in records if record.repeat == 1]
        found: list[RunRecord] = []
        for repeat in itertools.count(max((record.repeat for record in records), default=1) + 1):
            made = [self.find(r.bug, r.case, _file_name(replace(r, repeat=repeat)), r.key) for r in first]
            again = [record for record in made if record is not None]
            if not again or len(again) < len(first):
                return found
            found += again
        raise AssertionError("counting ends by itself only where there are no records")

    def records(self, bugs: Iterable[str] = ()) -> index.Found[RunRecord]:
        """All records, or those of the named bugs, oldest first; files that cannot be read are its `problems`."""
        return index.find(self.root, bugs, read_record)

    def judged_runs(self, bug: str, case: str) -> list[RunRecord]:
        """The records behind the case's verdict.json, failed runs included; none where there is no verdict.

        Raises ResultsError where one of these files cannot be read.
        """
        path = self.verdict_path(bug, case)
        return [read_record(path.parent / name) for name in _names_of_runs(path)] if path.exists() else []

    @contextmanager
    def working_directory(self) -> Iterator[Path]:
        """A new empty directory for one run, removed afterwards; raises ResultsError where it cannot be made."""
        path = None
        try:
            path = Path(tempfile.mkdtemp(prefix="run-", dir=self.scratch.path))
            yield path
        except OSError as error:
            raise _unwritable(self.root, error) from error
        finally:
            if path:
                remove(path)

    def check_room(self) -> None:
        """Raise ResultsError where the disk is full: a run that failed there says nothing of its script."""
        if shutil.disk_usage(self.scratch.path).free < ROOM_BYTES:
            raise _unwritable(self.root, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def save_logs(self, record: RunRecord, logs: Mapping[str, bytes]) -> None:
        """Write what a run on another machine has said, by stream; raises ResultsError."""
        for stream, text in logs.items():
            path = self.log_path(record, stream)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
            except OSError as error:
                raise _unwritable(path, error) from error

    def keep_logs(self, record: RunRecord, directory: Path) -> None:
        """Move the run's `stdout` and `stderr` from its working directory to where they are kept."""
        for stream in ("stdout", "stderr"):
            if (directory / stream).exists():
                kept = self.log_path(record, stream)
                kept.parent.mkdir(parents=True, exist_ok=True)
                (directory / stream).replace(kept)


def expected_path(bug: Bug, record: RunRecord) -> Path:
    """Where the bug's expected record of the same case, variant and seed lies."""
    return bug.expected / record.case / f"{run_name(record)}.json"


def expected_records(bug: Bug, case: str) -> list[RunRecord]:
    """The expected records of a case, by name; raises ResultsError for one that cannot be read."""
    return [read_record(path) for path in sorted((bug.expected / case).glob("*-seed*.json"))]


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


def _file_name(record: RunRecord) -> str:
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
        raise _unwritable(path, error) from error


def _names_of_runs(verdict: Path) -> list[str]:
    try:
        runs = [{"repeat": 1} | run for run in reading.read_json(verdict, MAX_RECORD_BYTES)["runs"]]
        named = all(fits(name, run[name], kind) for run in runs for name, kind in NAMING.items())
        names = [f"{file_name(*(run[name] for name in NAMING))}.json" for run in runs] if named else []
    except (reading.UnsafeError, KeyError, TypeError):
        names = []
    if not names:
        raise ResultsError(f"{verdict}: not a verdict; move it out of the results folder")
    return names


def finite(value: Any) -> Any:
    """The value for JSON, which knows no NaN and no infinity: these become texts."""
    if isinstance(value, Mapping):
        return {key: finite(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [finite(element) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _unwritable(path: Path, error: OSError) -> ResultsError:
    return ResultsError(f"{path}: cannot be written: {error.strerror}; name a folder with room by --results")


def expected_runs(bug: Bug) -> dict[str, list[RunRecord]]:
    """By case, the expected records; cases without any are left out."""
    found = {case: expected_records(bug, case) for case in bug.cases}
    return {case: records for case, records in found.items() if records}
