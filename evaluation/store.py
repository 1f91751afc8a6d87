"""Where records of evaluations are kept: a results folder, with a file a check; committed, with a file a detector."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from msgspec import to_builtins

from evaluation.catalog.detectors import read_description
from evaluation.model import Description, Detector, Rule
from evaluation.records import (
    CheckRecord,
    Line,
    OverheadRecord,
    as_record,
    check_record,
    read_record,
)
from runner.bugs.catalog import read_json
from runner.bugs.config import REWRITTEN
from runner.errors import CatalogError, ResultsError
from runner.files import swap, untrusted
from runner.files.atomic import write_json, write_text
from runner.results.record import MAX_RECORD_BYTES

# Of a file of committed records: larger ones are a burden on whoever clones.
MAX_BYTES = 2**20

R = TypeVar("R", CheckRecord, OverheadRecord)


@dataclass(frozen=True)
class Evaluated:
    """All of a folder; `rules` are alarm rules by their names, by the name of the detector.

    `problems` has a line for each file that cannot be read, and is left out; `older` is the number of records that are
    left out because they are of older code of their detector, `replaced` names the detectors whose committed records
    are left out for others, `other_code` those of which records of rewritten programs, or by further seeds, are left
    out, because they are of another code than those of published ones. Where `checks` are a part of the records of
    their detectors, all of these are the `whole`; else there is none.
    """

    checks: Sequence[CheckRecord]
    overheads: Sequence[OverheadRecord]
    rules: Mapping[str, Mapping[str, Rule]]
    problems: Sequence[str] = ()
    older: int = 0
    replaced: tuple[str, ...] = ()
    other_code: tuple[str, ...] = ()
    whole: Sequence[CheckRecord] = ()


@dataclass(frozen=True)
class Evaluations:
    """A results folder: <root>/<detector>/<references>/<bug>/<case>/<kind>-<seed>.json, `overhead-<seed>.json`."""

    root: Path
    # On the same disk: where files are written before they are moved to their place.
    scratch: Path | None = None

    def read(self, detectors: Iterable[str] = ()) -> Evaluated:
        """The records of all detectors, or of some, in the order of their paths; of each detector the newest code.

        What cannot be read is in the `problems`: nothing is raised for it.
        """
        folders = {self.root / name for name in detectors} or self.root.glob("*")
        parts = [self._read_one(folder) for folder in sorted(folders)]
        return Evaluated(
            [check for part in parts for check in part.checks],
            [timing for part in parts for timing in part.overheads],
            {name: rules for part in parts for name, rules in part.rules.items()},
            tuple(problem for part in parts for problem in part.problems),
            sum(part.older for part in parts),
        )

    def _read_one(self, folder: Path) -> Evaluated:
        """The records of the detector in a folder; nothing, where its rules cannot be read."""
        # What lies deeper are artefacts.
        paths = sorted(folder.glob("*/*/*/*-*.json"))
        if not paths:
            return Evaluated((), (), {})
        try:
            rules = read_description(folder / "detector.json").alarm_rules
        except CatalogError as error:
            left_out = f"{error}; the records beside it are left out: evaluate the detector anew"
            return Evaluated((), (), {}, (left_out,))
        problems: list[str] = []
        timings = [path for path in paths if path.name.startswith("overhead-")]
        checks = self._records(
            [path for path in paths if path not in timings], CheckRecord, problems
        )
        overheads = self._records(timings, OverheadRecord, problems)
        newest = _newest(checks or overheads)
        kept = [record for record in checks if _code(record) == newest]
        timed = [record for record in overheads if _code(record) == newest]
        older = len(checks) + len(overheads) - len(kept) - len(timed)
        return Evaluated(kept, timed, {folder.name: rules}, tuple(problems), older)

    def _records(self, paths: Iterable[Path], kind: type[R], problems: list[str]) -> list[R]:
        """The records in files; a line is added to the problems for each that holds none, or one of another program."""
        records = []
        for path in paths:
            try:
                record = read_record(path, kind)
            except ResultsError as error:
                problems.append(str(error))
                continue
            if self._path(record) == path:
                records.append(record)
            else:
                where = untrusted.shown(self._path(record).relative_to(self.root))
                problems.append(
                    f"{untrusted.shown(path)}: its record belongs to {where}; move the file away"
                )
        return records

    def artefacts(self, record: CheckRecord) -> Path:
        """The folder for what the detector wrote."""
        return self._path(record).with_suffix("")

    def save(self, record: CheckRecord | OverheadRecord) -> Path:
        """Write a record atomically; raises ResultsError, also for one that could not be read again."""
        path, text = (
            self._path(record),
            json.dumps(to_builtins(record), indent=1, allow_nan=False) + "\n",
        )
        check_record(text.encode("utf-8"), type(record), untrusted.shown(path))
        write_text(path, text, self.scratch)
        return path

    def save_detector(self, detector: Detector) -> None:
        """Keep the detector's description, by whose rules its alarms are counted."""
        described = read_json(detector.directory / "detector.json", detector.directory)
        write_json(self.root / detector.name / "detector.json", described, self.scratch)

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
    """The committed records: <root>/<detector>.jsonl, each with the detector's description and a record a line.

    What is more than MAX_BYTES goes on in <detector>.2.jsonl, which begins with the description, too, and so on.
    Those of rewritten programs are in folders of their own, which hold nothing else: <root>/rewritten/perturb-1; so are
    those of further seeds of a case, in <root>/seeds.
    """

    root: Path

    @property
    def further(self) -> "ExpectedEvaluations":
        """Those of the same programs by further seeds than the first one of each case."""
        return ExpectedEvaluations(self.root / "seeds")

    @property
    def rewriting(self) -> str:
        """How the programs of this folder are rewritten, with the seed; empty where they are as published."""
        return self.root.name if self.root.parent.name == REWRITTEN else ""

    def of(self, rewriting: str) -> "ExpectedEvaluations":
        """Those of programs that are rewritten so; these ones where it is empty."""
        return ExpectedEvaluations(self.root / REWRITTEN / rewriting) if rewriting else self

    @property
    def rewritten(self) -> list["ExpectedEvaluations"]:
        """Those of rewritten programs, in the order of their folders."""
        return [
            ExpectedEvaluations(each)
            for each in sorted((self.root / REWRITTEN).glob("*"))
            if each.is_dir()
        ]

    def read(self, detectors: Iterable[str] = ()) -> Evaluated:
        """All records, or those of some detectors, in the order in which they are written; raises ResultsError.

        Of a promotion that was killed the rest is done first.
        """
        for folder in (self.root, *self.root.parents[:2]):
            swap.recover(folder)
        names = set(detectors)
        chosen = [path for path in self._files() if _named(path)[0] in names or not names]
        _refuse_gaps(chosen)
        seen: dict[object, str] = {}
        lines = [
            (_named(path)[0], line)
            for path in chosen
            for line in _lines(path, self.rewriting, seen)
        ]
        described: dict[str, Description] = {}
        for name, line in lines:
            if line.detector and described.setdefault(name, line.detector) != line.detector:
                raise ResultsError(
                    f"{untrusted.shown(self.root)}: the files of {name} describe it in two ways"
                )
        return Evaluated(
            [line.check for _, line in lines if line.check],
            [line.overhead for _, line in lines if line.overhead],
            {name: detector.alarm_rules for name, detector in described.items()},
        )

    def replace(
        self, detector: Detector, checks: Iterable[CheckRecord], overheads: Iterable[OverheadRecord]
    ) -> None:
        """Put the records of a detector in the place of its earlier ones; raises ResultsError.

        Several files are not replaced at once: do it in a folder of `swap.changing`.

        They are sorted, so that a record that is made again changes its own line only, if there is one file.
        """
        lines = [
            {"detector": read_json(detector.directory / "detector.json", detector.directory)},
            *({"check": to_builtins(each)} for each in sorted(checks, key=subject)),
            *({"overhead": to_builtins(each)} for each in sorted(overheads, key=subject)),
        ]
        head, *texts = [
            json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n" for line in lines
        ]
        parts = [head]
        for text in texts:
            if len(parts[-1]) + len(text) > MAX_BYTES and parts[-1] != head:
                parts.append(head)
            parts[-1] += text
        for number, part in enumerate(parts, 1):
            ending = f".{number}.jsonl" if number > 1 else ".jsonl"
            write_text(self.root / f"{detector.name}{ending}", part)
        for path in self._files():
            name, number = _named(path)
            if name == detector.name and number > len(parts):
                path.unlink()

    def _files(self) -> list[Path]:
        return sorted(self.root.glob("*.jsonl"), key=_named)


def _named(path: Path) -> tuple[str, int]:
    """The detector whose records a file has, and which of its files it is."""
    found = re.fullmatch(r"(.+)\.([2-9]|[1-9][0-9]+)", path.stem, re.ASCII)
    return (found[1], int(found[2])) if found else (path.stem, 1)


def _refuse_gaps(paths: Iterable[Path]) -> None:
    """Raise ResultsError where a detector's files do not go on from its first one; a last one may be missing."""
    numbers: dict[str, int] = {}
    for path in paths:
        name, number = _named(path)
        before = numbers.get(name, 0)
        if number != before + 1:
            raise ResultsError(
                f"{untrusted.shown(path)}: goes on from file {number - 1} of {name}, which is not there"
            )
        numbers[name] = number


def of_newest_code(checks: Sequence[CheckRecord]) -> list[CheckRecord]:
    """Of the records of each detector those of its newest code, whichever folders they come from."""
    names = {record.detector for record in checks}
    newest = {
        name: _newest([record for record in checks if record.detector == name]) for name in names
    }
    return [record for record in checks if _code(record) == newest[record.detector]]


def of_code_of(
    published: Sequence[CheckRecord], rewritten: Sequence[CheckRecord]
) -> list[CheckRecord]:
    """Both, of each detector by the newest code of its published records, or else of its rewritten ones."""
    codes: dict[str, tuple[str | None, ...]] = {}
    for records in (published, rewritten):
        for name in {record.detector for record in records} - set(codes):
            codes[name] = _newest([record for record in records if record.detector == name])
    return [
        record for record in (*published, *rewritten) if _code(record) == codes[record.detector]
    ]


def _code(record: CheckRecord | OverheadRecord) -> tuple[str | None, ...]:
    """What tells the code of a detector that made a record; of records from before it was noted, version and kit."""
    return (record.code,) if record.code else (record.version, record.kit)


def _newest(records: Sequence[CheckRecord] | Sequence[OverheadRecord]) -> tuple[str | None, ...]:
    """The code that made the record that was started last."""
    return max(
        ((record.started, _code(record)) for record in records), key=itemgetter(0), default=("", ())
    )[1]


def _rewritten_as(record: CheckRecord | OverheadRecord) -> str:
    """How the program of a record is rewritten; nothing is timed on rewritten ones, so that a timing is of none."""
    return record.rewritten_as if isinstance(record, CheckRecord) else ""


def subject(record: CheckRecord | OverheadRecord) -> tuple[str, str, str, str, int]:
    """What a record of a detector is about: references, bug, case, kind of program, seed."""
    kind = record.kind if isinstance(record, CheckRecord) else "overhead"
    return record.references, record.bug, record.case, kind, record.seed


def _lines(path: Path, rewriting: str, seen: dict[object, str]) -> list[Line]:
    """The description of a detector and its records, of programs that are rewritten so; `seen` says where each one is.

    Raises ResultsError for anything else, or what is there twice.
    """
    shown = untrusted.shown(path)
    lines: list[Line] = []
    try:
        for number, text in enumerate(untrusted.read_bytes(path, MAX_RECORD_BYTES).splitlines(), 1):
            line = as_record(untrusted.parse_json(text), Line, f"{shown}, line {number}")
            record = line.check or line.overhead
            if (record is None) != (number == 1):
                raise ResultsError(
                    f"{shown}, line {number}: the first line, and no other, describes the detector"
                )
            name = record.detector if record else line.detector and line.detector.name
            if name != _named(path)[0]:
                raise ResultsError(
                    f"{shown}, line {number}: is of detector {name!r}, expected {_named(path)[0]!r}"
                )
            if record and (found := _rewritten_as(record)) != rewriting:
                raise ResultsError(
                    f"{shown}, line {number}: is of programs {found or 'as published'}, "
                    f"expected {rewriting or 'as published'}: they are never mixed; move it to its own folder"
                )
            here = f"{path.name}, line {number}"
            if record and seen.setdefault((name, subject(record)), here) != here:
                raise ResultsError(
                    f"{shown}, line {number}: is of the same program as {seen[name, subject(record)]}"
                )
            lines.append(line)
    except untrusted.UnsafeError as error:
        raise ResultsError(
            f"{shown}, line {len(lines) + 1}: not a record of an evaluation: {error}"
        ) from error
    return lines
