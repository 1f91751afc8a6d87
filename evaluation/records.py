"""What came out of a check, and where is it kept? Versioned JSON; the only owner of the paths of evaluations."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

from evaluation.catalog.detectors import read_rules
from evaluation.model import CONTROL, REFERENCES, SEVERITIES, STATUSES, Alarm, Detector, Invariants, Rule, Training
from runner.bugs.model import VARIANTS
from runner.errors import ResultsError
from runner.files import untrusted
from runner.files.atomic import finite, write_json
from runner.results.fields import MAX_NUMBER
from runner.results.record import MAX_RECORD_BYTES

SCHEMA = 1
ALLOWED = {
    "status": STATUSES,
    "kind": (*VARIANTS, CONTROL),
    "references": REFERENCES,
    "severity": SEVERITIES,
}


@dataclass(frozen=True)
class Site:
    """Where the fault is: a file (program.py for the program itself), its line, the API that is at fault."""

    file: str
    line: int | None
    api: str


@dataclass(frozen=True)
class Seconds:
    """What a check took, in seconds; `prepare` is that of learning from references, once for all that share them."""

    prepare: float | None
    check: float
    training: Training | None


@dataclass(frozen=True)
class CheckRecord:
    """One detector on one program. `kind` is buggy, fixed or control, `references` one of model.REFERENCES.

    `trigger` is the iteration at which the bug's fault first acts. `alarms` are all of the detector's, whether
    its rules count them or not; `dropped` more were left out. `key` identifies detector, program and references.
    """

    schema: int
    key: str
    detector: str
    version: str
    references: str
    kind: str
    bug: str
    case: str
    seed: int
    benign: bool
    trigger: int
    site: Site
    environment: str
    pinned: bool
    torch: str | None
    device: str
    machine: str
    threads: int
    status: str
    reason: str | None
    alarms: tuple[Alarm, ...]
    dropped: int
    invariants: Invariants | None
    seconds: Seconds
    started: str
    revision: str | None

    @property
    def name(self) -> str:
        """The program's, without the seed."""
        return f"{self.bug}/{self.case}" + ("" if self.bug == self.kind else f"/{self.kind}")


@dataclass(frozen=True)
class OverheadRecord:
    """Seconds of training, bare and under a detector, taken in turns; `of` says what was timed (see Training)."""

    schema: int
    key: str
    detector: str
    version: str
    references: str
    bug: str
    case: str
    seed: int
    torch: str | None
    device: str
    machine: str
    threads: int
    of: str
    bare: tuple[float, ...]
    watched: tuple[float, ...]
    started: str


@dataclass(frozen=True)
class Evaluations:
    """A folder of records: <root>/<detector>/<references>/<bug>/<case>/<kind>-<seed>.json, `overhead-<seed>.json`."""

    root: Path

    def check_path(self, record: CheckRecord) -> Path:
        return self._directory(record) / f"{record.kind}-{record.seed}.json"

    def overhead_path(self, record: OverheadRecord) -> Path:
        return self._directory(record) / f"overhead-{record.seed}.json"

    def artefacts(self, record: CheckRecord) -> Path:
        """The folder for what the detector wrote."""
        return self._directory(record) / f"{record.kind}-{record.seed}"

    def _directory(self, record: CheckRecord | OverheadRecord) -> Path:
        return self.root / record.detector / record.references / record.bug / record.case

    def save(self, record: CheckRecord | OverheadRecord) -> Path:
        """Write a record atomically; raises ResultsError."""
        path = self.check_path(record) if isinstance(record, CheckRecord) else self.overhead_path(record)
        write_json(path, finite(asdict(record)))
        return path

    def save_detector(self, detector: Detector) -> None:
        """Keep the detector's description, by whose rules its alarms are counted."""
        text = (detector.directory / "detector.json").read_text(encoding="utf-8")
        write_json(self.root / detector.name / "detector.json", json.loads(text))

    def rules(self) -> dict[str, tuple[Rule, ...]]:
        """By name of the detector, its rules; raises CatalogError."""
        return {path.parent.name: read_rules(path) for path in sorted(self.root.glob("*/detector.json"))}

    def find(self, record: CheckRecord) -> CheckRecord | None:
        """The finished check with the same key, or None; a file that cannot be read counts as none."""
        try:
            found = read_check(self.check_path(record))
        except ResultsError:
            return None
        return found if found.key == record.key else None

    def find_overhead(self, record: OverheadRecord) -> OverheadRecord | None:
        try:
            found = read_overhead(self.overhead_path(record))
        except ResultsError:
            return None
        return found if found.key == record.key else None

    def checks(self, detectors: Iterable[str] = ()) -> list[CheckRecord]:
        """All checks, or those of some detectors, in the order of their paths; raises ResultsError."""
        return [read_check(path) for path in self._files(detectors) if not path.name.startswith("overhead-")]

    def overheads(self, detectors: Iterable[str] = ()) -> list[OverheadRecord]:
        return [read_overhead(path) for path in self._files(detectors) if path.name.startswith("overhead-")]

    def _files(self, detectors: Iterable[str]) -> list[Path]:
        folders = [self.root / name for name in detectors] or [self.root]
        return sorted(path for folder in folders for path in folder.glob("**/*-*.json") if _is_record(self.root, path))


def _is_record(root: Path, path: Path) -> bool:
    # <detector>/<references>/<bug>/<case>/<file>: what lies deeper are artefacts.
    return len(path.relative_to(root).parts) == 5


def read_check(path: Path) -> CheckRecord:
    """The check in a file; raises ResultsError where it is none, or of another schema."""
    data = _read(path)
    try:
        seconds, invariants = data.pop("seconds"), data.pop("invariants")
        training = seconds.pop("training")
        record = CheckRecord(
            **data
            | {
                "site": Site(**data["site"]),
                "alarms": tuple(Alarm(**alarm) for alarm in data["alarms"]),
                "invariants": Invariants(**invariants) if invariants else None,
                "seconds": Seconds(**seconds, training=Training(**training) if training else None),
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise _foreign(path) from error
    _check_fields(record, path)
    return record


def read_overhead(path: Path) -> OverheadRecord:
    """The timings in a file; raises ResultsError where there are none, or of another schema."""
    data = _read(path)
    try:
        record = OverheadRecord(**data)
        record = replace(record, bare=tuple(record.bare), watched=tuple(record.watched))
    except TypeError as error:
        raise _foreign(path) from error
    _check_fields(record, path)
    if not (record.bare and record.watched and min(*record.bare, *record.watched) > 0):
        raise ResultsError(f"{untrusted.shown(path)}: bare or watched lacks seconds above 0; move the file away")
    return record


def _check_fields(made: Any, path: Path) -> None:
    """Raise ResultsError where a field of a record, or of a part of it, is not what its dataclass says."""
    for field in fields(made):
        value, kind = getattr(made, field.name), field.type
        # Of a tuple, each of its elements.
        parts, kind = (value, get_args(kind)[0]) if isinstance(value, tuple) else ((value,), kind)
        for part in parts:
            if is_dataclass(part):
                _check_fields(part, path)
            elif not _fits(field.name, part, kind):
                shown = f"{field.name} is {untrusted.brief(part)}"
                raise ResultsError(f"{untrusted.shown(path)}: {shown}; move the file away")


def _fits(name: str, value: Any, kind: Any) -> bool:
    if isinstance(value, bool):  # which is an int, too
        return kind is bool
    if isinstance(value, int | float):
        return abs(value) <= MAX_NUMBER and isinstance(value, kind | int if float in (kind, *get_args(kind)) else kind)
    return isinstance(value, kind) and (name not in ALLOWED or value in ALLOWED[name])


def _read(path: Path) -> dict[str, Any]:
    try:
        data = untrusted.read_json(path, MAX_RECORD_BYTES)
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{untrusted.shown(path)}: not a record of an evaluation: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise _foreign(path)
    return data


def _foreign(path: Path) -> ResultsError:
    return ResultsError(f"{path}: not a record of an evaluation of schema {SCHEMA}; move it out of the folder")
