"""Committed records: one file a detector, with its description and a record a line."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from evaluation.model import Description, Detector
from evaluation.records import (
    CheckRecord,
    CommittedLine,
    OverheadRecord,
    ProgramName,
    Records,
    dump_record,
    parse_line,
    program_name,
)
from runner.bugs.catalog import read_json
from runner.bugs.config import REWRITTEN
from runner.errors import ResultsError
from runner.files import swap, untrusted
from runner.files.atomic import write_text
from runner.results.record import MAX_RECORD_BYTES

# The folder of the records by further seeds.
SEEDS = "seeds"
# Size of a file of committed records: larger ones are a burden on whoever clones.
MAX_BYTES = 2**20
# Where a record stands, by its detector and program.
Origins = dict[tuple[str, ProgramName], str]


@dataclass(frozen=True)
class CommittedChecks:
    """The committed records: <root>/<detector>.jsonl,
    each with the detector's description and a record a line.

    Beyond MAX_BYTES the records go on in <detector>.2.jsonl, which begins with the description,
    too, and so on. Records of rewritten programs are in folders of their own:
    <root>/rewritten/perturb-1. Records by further seeds of a case are in <root>/seeds.
    """

    root: Path

    @property
    def further(self) -> "CommittedChecks":
        """The records of the same programs by further seeds than the first one of each case."""
        return CommittedChecks(self.root / SEEDS)

    @property
    def rewriting(self) -> str:
        """How the programs of this folder are rewritten, with the seed;
        empty where they are as published.
        """
        return self.root.name if self.root.parent.name == REWRITTEN else ""

    def rewritten_by(self, rewriting: str) -> "CommittedChecks":
        """The records of programs with this rewriting; these records where it is empty."""
        return CommittedChecks(self.root / REWRITTEN / rewriting) if rewriting else self

    @property
    def rewritten(self) -> list["CommittedChecks"]:
        """The records of rewritten programs, in the order of their folders."""
        paths = sorted((self.root / REWRITTEN).glob("*"))
        return [CommittedChecks(path) for path in paths if path.is_dir()]

    def read(self, detectors: Iterable[str] = ()) -> Records:
        """All records, or those of some detectors, in the order in which they are written;
        raises ResultsError.

        A promotion that was killed is finished first.
        """
        for folder in (self.root, *self.root.parents[:2]):
            swap.recover(folder)
        names = set(detectors)
        paths = [path for path in self._files() if not names or _parse_name(path)[0] in names]
        _refuse_gaps(paths)
        origins: Origins = {}
        checks: list[CheckRecord] = []
        overheads: list[OverheadRecord] = []
        descriptions: dict[str, Description] = {}
        lines_by_path = [(path, _read_lines(path, self.rewriting, origins)) for path in paths]
        for path, lines in lines_by_path:
            for line in lines:
                if line.check:
                    checks.append(line.check)
                if line.overhead:
                    overheads.append(line.overhead)
                if line.description:
                    self._add_description(_parse_name(path)[0], line.description, descriptions)
        rules = {name: description.alarm_rules for name, description in descriptions.items()}
        return Records(checks, overheads, rules)

    def _add_description(
        self, name: str, description: Description, descriptions: dict[str, Description]
    ) -> None:
        if descriptions.setdefault(name, description) != description:
            raise ResultsError(
                f"{untrusted.shown(self.root)}: the files of {name} describe it in two ways"
            )

    def replace(
        self, detector: Detector, checks: Iterable[CheckRecord], overheads: Iterable[OverheadRecord]
    ) -> None:
        """Put the records of a detector in the place of its earlier ones; raises ResultsError.

        Several files are not replaced at once: do it in a folder of `swap.changing`.

        They are sorted, so that a record that is made again changes its own line only, if there is
        one file.
        """
        description = read_json(detector.directory / "detector.json", detector.directory)
        check_lines = [{"check": dump_record(check)} for check in sorted(checks, key=program_name)]
        overhead_lines = [
            {"overhead": dump_record(overhead)} for overhead in sorted(overheads, key=program_name)
        ]
        head = _as_text({"detector": description})
        parts = [head]
        for line in (*check_lines, *overhead_lines):
            text = _as_text(line)
            if len(parts[-1]) + len(text) > MAX_BYTES and parts[-1] != head:
                parts.append(head)
            parts[-1] += text
        for number, part in enumerate(parts, 1):
            ending = f".{number}.jsonl" if number > 1 else ".jsonl"
            write_text(self.root / f"{detector.name}{ending}", part)
        for path in self._files():
            name, number = _parse_name(path)
            if name == detector.name and number > len(parts):
                path.unlink()

    def _files(self) -> list[Path]:
        return sorted(self.root.glob("*.jsonl"), key=_parse_name)


def _as_text(line: object) -> str:
    return json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n"


def _parse_name(path: Path) -> tuple[str, int]:
    """The detector whose records a file has, and which of its files it is."""
    match = re.fullmatch(r"(.+)\.([2-9]|[1-9][0-9]+)", path.stem, re.ASCII)
    return (match[1], int(match[2])) if match else (path.stem, 1)


def _refuse_gaps(paths: Iterable[Path]) -> None:
    """Raise ResultsError where a detector's files do not go on from its first one;
    a last one may be missing.
    """
    numbers: dict[str, int] = {}
    for path in paths:
        name, number = _parse_name(path)
        before = numbers.get(name, 0)
        if number != before + 1:
            raise ResultsError(
                f"{untrusted.shown(path)}: goes on from file {number - 1} of {name}, "
                "which is not there"
            )
        numbers[name] = number


def _read_lines(path: Path, rewriting: str, origins: Origins) -> list[CommittedLine]:
    """The description of a detector and its records, of programs with this rewriting.

    `origins` gets the place of each record. Raises ResultsError for anything else, or a program
    that stands twice.
    """
    lines = []
    for number, line in enumerate(_parse_file(path, _stamp(path)), 1):
        if line.record:
            where = f"{untrusted.shown(path)}, line {number}"
            _check_place(line.record, rewriting, where)
            origin = f"{path.name}, line {number}"
            name = (line.record.detector, program_name(line.record))
            if origins.setdefault(name, origin) != origin:
                raise ResultsError(f"{where}: is of the same program as {origins[name]}")
        lines.append(line)
    return lines


def _stamp(path: Path) -> tuple[int, int, int]:
    """What tells one state of a file from another."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)


# A command reads the published records as such, beside those by seeds, and beside rewritten ones.
@lru_cache(maxsize=256)
def _parse_file(path: Path, stamp: tuple[int, int, int]) -> tuple[CommittedLine, ...]:
    """The lines of a file in this state; raises ResultsError."""
    lines: list[CommittedLine] = []
    try:
        texts = untrusted.read_bytes(path, MAX_RECORD_BYTES).splitlines()
        for number, text in enumerate(texts, 1):
            where = f"{untrusted.shown(path)}, line {number}"
            line = parse_line(untrusted.parse_json(text), where)
            _check_line(line, number, where, path)
            lines.append(line)
    except untrusted.UnsafeError as error:
        raise ResultsError(
            f"{untrusted.shown(path)}, line {len(lines) + 1}: not a record of an evaluation: "
            f"{error}"
        ) from error
    return tuple(lines)


def _check_line(line: CommittedLine, number: int, where: str, path: Path) -> None:
    """Raise ResultsError unless the first line describes the detector,
    and all are of the detector of the file.
    """
    record = line.record
    if (record is None) != (number == 1):
        raise ResultsError(f"{where}: the first line, and no other, describes the detector")
    expected_name = _parse_name(path)[0]
    if line.detector_name != expected_name:
        raise ResultsError(
            f"{where}: is of detector {line.detector_name!r}, expected {expected_name!r}"
        )


def _check_place(record: CheckRecord | OverheadRecord, rewriting: str, where: str) -> None:
    """Raise ResultsError for a record of a program with another rewriting than the folder's."""
    # Rewritten programs are not timed.
    actual = record.rewritten_as if isinstance(record, CheckRecord) else ""
    if actual != rewriting:
        raise ResultsError(
            f"{where}: is of programs {actual or 'as published'}, "
            f"expected {rewriting or 'as published'}: they are never mixed; "
            "move it to its own folder"
        )
