"""Where records of evaluations are kept: a results folder, with a file a check; committed, with a file a detector."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec import to_builtins

from evaluation.catalog.detectors import read_description
from evaluation.model import Detector, Rule
from evaluation.records import CheckRecord, Line, OverheadRecord, as_record, read_record
from runner.bugs.catalog import read_json
from runner.errors import ResultsError
from runner.files import untrusted
from runner.files.atomic import write_json, write_text
from runner.results.record import MAX_RECORD_BYTES

R = TypeVar("R", CheckRecord, OverheadRecord)


@dataclass(frozen=True)
class Evaluated:
    """All of a folder; `rules` are alarm rules by their names, by the name of the detector."""

    checks: Sequence[CheckRecord]
    overheads: Sequence[OverheadRecord]
    rules: Mapping[str, Mapping[str, Rule]]


@dataclass(frozen=True)
class Evaluations:
    """A results folder: <root>/<detector>/<references>/<bug>/<case>/<kind>-<seed>.json, `overhead-<seed>.json`."""

    root: Path

    def read(self, detectors: Iterable[str] = ()) -> Evaluated:
        """All records, or those of some detectors, in the order of their paths; raises ResultsError, CatalogError."""
        folders = [self.root / name for name in detectors] or [self.root]
        # <detector>/<references>/<bug>/<case>/<file>: what lies deeper are artefacts.
        depth = len(self.root.parts) + 5
        paths = sorted(path for each in folders for path in each.glob("**/*-*.json") if len(path.parts) == depth)
        timings = [path for path in paths if path.name.startswith("overhead-")]
        return Evaluated(
            [read_record(path, CheckRecord) for path in paths if path not in timings],
            [read_record(path, OverheadRecord) for path in timings],
            {path.parent.name: read_description(path).alarm_rules for path in self.root.glob("*/detector.json")},
        )

    def artefacts(self, record: CheckRecord) -> Path:
        """The folder for what the detector wrote."""
        return self._path(record).with_suffix("")

    def save(self, record: CheckRecord | OverheadRecord) -> Path:
        """Write a record atomically; raises ResultsError."""
        path = self._path(record)
        write_json(path, to_builtins(record))
        return path

    def save_detector(self, detector: Detector) -> None:
        """Keep the detector's description, by whose rules its alarms are counted."""
        write_json(self.root / detector.name / "detector.json", read_json(detector.directory / "detector.json"))

    def find(self, record: R) -> R | None:
        """The finished record with the same key, or None; a file that cannot be read counts as none."""
        try:
            known = read_record(self._path(record), type(record))
        except ResultsError:
            return None
        return known if known.key == record.key else None

    def _path(self, record: CheckRecord | OverheadRecord) -> Path:
        kind = record.kind if isinstance(record, CheckRecord) else "overhead"
        folder = self.root / record.detector / record.references / record.bug / record.case
        return folder / f"{kind}-{record.seed}.json"


@dataclass(frozen=True)
class ExpectedEvaluations:
    """The committed records: <root>/<detector>.jsonl, each with the detector's description and a record a line."""

    root: Path

    def read(self, detectors: Iterable[str] = ()) -> Evaluated:
        """All records, or those of some detectors, in the order in which they are written; raises ResultsError."""
        names = set(detectors)
        paths = sorted(self.root.glob("*.jsonl"), key=lambda path: path.stem)
        lines = [(path.stem, line) for path in paths if path.stem in names or not names for line in _lines(path)]
        return Evaluated(
            [line.check for _, line in lines if line.check],
            [line.overhead for _, line in lines if line.overhead],
            {name: line.detector.alarm_rules for name, line in lines if line.detector},
        )

    def replace(self, detector: Detector, checks: Iterable[CheckRecord], overheads: Iterable[OverheadRecord]) -> None:
        """Put the records of a detector in the place of its earlier ones, atomically; raises ResultsError.

        They are sorted, so that a record that is made again changes its own line only.
        """
        lines = [
            {"detector": read_json(detector.directory / "detector.json")},
            *({"check": to_builtins(each)} for each in sorted(checks, key=_subject)),
            *({"overhead": to_builtins(each)} for each in sorted(overheads, key=_subject)),
        ]
        texts = [json.dumps(line, allow_nan=False, separators=(",", ":")) for line in lines]
        write_text(self.root / f"{detector.name}.jsonl", "".join(f"{text}\n" for text in texts))


def _subject(record: CheckRecord | OverheadRecord) -> tuple[str, str, str, str, int]:
    kind = record.kind if isinstance(record, CheckRecord) else "overhead"
    return record.references, record.bug, record.case, kind, record.seed


def _lines(path: Path) -> list[Line]:
    """The description of a detector and its records; raises ResultsError for anything else, or what is there twice."""
    shown = untrusted.shown(path)
    lines: list[Line] = []
    lines_of: dict[object, int] = {}
    try:
        for number, text in enumerate(untrusted.read_bytes(path, MAX_RECORD_BYTES).splitlines(), 1):
            line = as_record(untrusted.parse_json(text), Line, f"{shown}, line {number}")
            record = line.check or line.overhead
            if (record is None) != (number == 1):
                raise ResultsError(f"{shown}, line {number}: the first line, and no other, describes the detector")
            name = record.detector if record else line.detector and line.detector.name
            if name != path.stem:
                raise ResultsError(f"{shown}, line {number}: is of detector {name!r}, expected {path.stem!r}")
            subject = record and _subject(record)
            if lines_of.setdefault(subject, number) != number:
                raise ResultsError(f"{shown}, line {number}: is of the same program as line {lines_of[subject]}")
            lines.append(line)
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{shown}, line {len(lines) + 1}: not a record of an evaluation: {error}") from error
    return lines
