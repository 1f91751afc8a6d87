"""Records in a results folder: one file for each check and each overhead."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from evaluation.catalog.detectors import read_description
from evaluation.model import Detector
from evaluation.records import (
    CheckRecord,
    OverheadRecord,
    Records,
    check_record,
    dump_record,
    merge_records,
    read_record,
)
from runner.bugs.catalog import read_json
from runner.errors import CatalogError, ResultsError
from runner.files import untrusted
from runner.files.atomic import write_json, write_text
from runner.files.folders import inside

R = TypeVar("R", CheckRecord, OverheadRecord)


@dataclass(frozen=True)
class CheckStore:
    """A results folder: <root>/<detector>/<references>/<bug>/<case>/<kind>-<seed>.json,
    `overhead-<seed>.json`.
    """

    root: Path
    # Files are written here before they are moved to their place: a folder on the same disk.
    scratch: Path | None = None

    def read(self, detectors: Iterable[str] = ()) -> Records:
        """The records of all detectors, or of some, in the order of their paths,
        whichever code made them.

        Nothing is raised for a file that cannot be read: it is in the `problems`.
        """
        folders = {self.root / name for name in detectors} or self.root.glob("*")
        return merge_records([self._read_detector(folder) for folder in sorted(folders)])

    def _read_detector(self, folder: Path) -> Records:
        """The records of the detector in a folder; nothing, where its rules cannot be read."""
        # Artefacts lie deeper than records.
        paths = sorted(folder.glob("*/*/*/*-*.json"))
        if not paths:
            return Records((), (), {})
        try:
            rules = read_description(folder / "detector.json").alarm_rules
        except CatalogError as error:
            problem = f"{error}; the records beside it are left out: evaluate the detector anew"
            return Records((), (), {}, (problem,))
        overhead_paths = [path for path in paths if path.name.startswith("overhead-")]
        check_paths = [path for path in paths if path not in overhead_paths]
        problems: list[str] = []
        checks = self._read_files(check_paths, CheckRecord, problems)
        overheads = self._read_files(overhead_paths, OverheadRecord, problems)
        return Records(checks, overheads, {folder.name: rules}, tuple(problems))

    def _read_files(self, paths: Sequence[Path], kind: type[R], problems: list[str]) -> list[R]:
        """The records in files; a file without a record, or with that of another program,
        adds a problem.
        """
        records = []
        for path in paths:
            try:
                record = read_record(path, kind)
            except ResultsError as error:
                problems.append(str(error))
                continue
            home = self._path(record)
            if home == path:
                records.append(record)
            else:
                shown_home = untrusted.shown(home.relative_to(self.root))
                problems.append(
                    f"{untrusted.shown(path)}: its record belongs to {shown_home}; "
                    "move the file away"
                )
        return records

    def place(self, record: CheckRecord) -> str:
        """Where a record lies in the folder; it takes the place of an older one there."""
        return str(self._path(record).relative_to(self.root))

    def artefacts(self, record: CheckRecord) -> Path:
        """The folder for what the detector wrote."""
        return inside(self._path(record).with_suffix(""), self.root)

    def save(self, record: R) -> Path:
        """Write a record atomically; raises ResultsError,
        also for one that could not be read again.
        """
        path = inside(self._path(record), self.root)
        text = json.dumps(dump_record(record), indent=1, allow_nan=False) + "\n"
        check_record(text.encode("utf-8"), type(record), untrusted.shown(path))
        write_text(path, text, self.scratch)
        return path

    def save_detector(self, detector: Detector) -> None:
        """Keep the detector's description, by whose rules its alarms are counted."""
        description = read_json(detector.directory / "detector.json", detector.directory)
        path = inside(self.root / detector.name / "detector.json", self.root)
        write_json(path, description, self.scratch)

    def find(self, record: R) -> R | None:
        """The finished record with the same key, or None;
        a file that cannot be read counts as none.
        """
        try:
            finished = read_record(self._path(record), type(record))
        except ResultsError:
            return None
        return finished if finished.key == record.key else None

    def _path(self, record: CheckRecord | OverheadRecord) -> Path:
        kind = record.kind if isinstance(record, CheckRecord) else "overhead"
        folder = self.root / record.detector / record.references / record.bug / record.case
        return folder / f"{kind}-{record.seed}.json"
