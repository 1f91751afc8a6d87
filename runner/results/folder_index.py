"""The index of a results folder, which lists its records without reading each of them.

The index is a cache of what the table of runs shows; the files alone decide. A line counts only
where the file has the time of change and the size that the line names, and the checksum at the
start of the line is right. A corrupt index is ignored and rebuilt: it may be cut off, foreign, out
of date, written by two programs at once, unwritable or missing. It is therefore written without
further precautions. But one: a link in its place is not followed, because a stranger's folder may
lead it to a file of the user.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from zlib import crc32

from runner.bugs.config import REWRITTEN
from runner.errors import ResultsError
from runner.files.untrusted import shown
from runner.results.record import SCHEMA

T = TypeVar("T")
# Time of change in nanoseconds, and size in bytes.
State = tuple[int, int]
Files = dict[str, State]

INDEX, LOGS = ".index", "logs"
RECORD = re.compile(r"[^.].*-seed.*-.*\.json", re.DOTALL)
# New lines are written this many at a time, so that little is lost where the first reading of a
# folder is interrupted.
BATCH = 1000
# The index is rewritten when it has more lines than this for each record, plus SPARE.
LINES_PER_RECORD, SPARE = 2, 1000
READ_BYTES = 1 << 20
# How the index is opened: no link is followed, and no pipe is waited for.
CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK


class IndexRow(NamedTuple):
    """A row of the table of runs, with fields of RunRecord.

    A tuple, which is small and fast: there may be 100,000.
    """

    path: str  # in the results folder
    started: str
    seed: int
    repeat: int
    wall_s: float
    peak_memory_mb: float
    records: int  # the number of records of the script
    bug: str
    case: str
    variant: str
    injected: bool
    status: str
    environment: str
    torch: str | None
    device: str


# The start value of checksums: an index with other columns, or of records of another schema, is a
# foreign one.
SEED = crc32(repr((SCHEMA, IndexRow._fields)).encode())
RUNTIME_COLUMNS = ("environment", "torch", "device")
RECORD_COLUMNS = tuple(
    name for name in IndexRow._fields if name not in ("path", "records", *RUNTIME_COLUMNS)
)


@dataclass(frozen=True)
class FolderRecords(Generic[T]):
    """Records, oldest first: their rows, and a line for each file that cannot be read.

    Iteration reads the records one by one, each time anew, so that few are in memory; it raises
    ResultsError for one that has gone since.
    """

    root: Path
    rows: Sequence[IndexRow]
    problems: Sequence[str]
    read: Callable[[Path], T]

    def __iter__(self) -> Iterator[T]:
        return (self.read(self.root / row.path) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def find(root: Path, bugs: Iterable[str], read_record: Callable[[Path], T]) -> FolderRecords[T]:
    """The records of a results folder, or of some bugs in it.

    `read_record` raises ResultsError for a file that is no record. It reads records that the index
    lacks, and they are added to it.
    """
    problems: list[str] = []
    folders = list(dict.fromkeys(str(Path(bug)) for bug in bugs))
    files = _scan(root, folders or [""], problems)
    rows, lines = _read_rows(root, files)
    lines += _read_missing(root, files, rows, problems, read_record)
    if not folders and lines > LINES_PER_RECORD * len(rows) + SPARE:
        _write(root, (_line(rows[path], files[path]) for path in rows if path in files), os.O_TRUNC)
    return FolderRecords(
        root, sorted(rows.values(), key=attrgetter("started", "path")), problems, read_record
    )


def append(root: Path, path: Path, read_record: Callable[[Path], Any]) -> None:
    """Add a record that has just been written to the index.

    Raises nothing: `find` adds what is missing here. The file is read again, because another
    program may have replaced it by its own.
    """
    with suppress(OSError, ResultsError):
        before = _state(path.stat())
        row = _row(path.relative_to(root).as_posix(), read_record(path))
        if _state(path.stat()) == before:
            _write(root, [_line(row, before)])


def _scan(root: Path, folders: Iterable[str], problems: list[str]) -> Files:
    """All files in these folders, at any depth, that are named like records, by their paths in
    `root`.
    """
    files: Files = {}
    todo = list(folders)
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(root / folder) as entries:
                inner, odd = _look(entries, f"{folder}/" if folder else "", files)
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(f"{shown(root / folder)}: cannot be read: {error.strerror}")
            continue
        todo += inner
        problems += [f"{shown(root / path)}: not a run record: is no plain file" for path in odd]
    return files


def _look(
    entries: Iterable["os.DirEntry[str]"], prefix: str, files: Files
) -> tuple[list[str], list[str]]:
    """Add files that are named like records to `files`; returns the folders, and what is neither (a
    pipe, a lost link).

    Hidden entries are left out: they are foreign, or not finished.
    """
    folders, odd, records = [], [], 0
    for entry in entries:
        is_record_name = RECORD.fullmatch(entry.name)
        if is_record_name and entry.is_file():
            records += 1
            with suppress(FileNotFoundError):  # it has just been removed
                files[prefix + entry.name] = _state(entry.stat())
        elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            folders.append(entry.name)
        elif is_record_name:
            odd.append(prefix + entry.name)
    # A folder `logs` beside records is skipped: it holds twice as many files, and no record.
    # Rewritten programs are none of the catalogue's: their records are found where their own folder
    # is named.
    skipped: set[str] = set()
    if records:
        skipped.add(LOGS)
    elif not prefix:
        skipped.add(REWRITTEN)
    return [prefix + name for name in folders if name not in skipped], odd


def _state(stat: os.stat_result) -> State:
    return (stat.st_mtime_ns, stat.st_size)


def _read_rows(root: Path, files: Mapping[str, State]) -> tuple[dict[str, IndexRow], int]:
    """The rows of the index that fit the present state of these files, and the number of its
    lines.
    """
    rows: dict[str, IndexRow] = {}
    count = 0
    with (
        suppress(OSError),
        os.fdopen(os.open(root / INDEX, os.O_RDONLY | CAREFULLY), "rb") as file,
    ):
        while True:
            lines = file.readlines(READ_BYTES)
            if not lines:
                break
            intact = [line[9:-1] for line in lines if line[:9] == _checksum(line[9:-1])]
            for state_and_row in json.loads(b"[" + b",".join(intact) + b"]"):
                row = _shared(state_and_row[2:])
                if files.get(row.path) == (state_and_row[0], state_and_row[1]):
                    rows[row.path] = row
            count += len(lines) - lines.count(b"\n")
    return rows, count


def _read_missing(
    root: Path,
    files: Files,
    rows: dict[str, IndexRow],
    problems: list[str],
    read_record: Callable[[Path], Any],
) -> int:
    """Read the files that have no row yet, and write lines for them; returns the number of
    lines.
    """
    lines: list[bytes] = []
    count = 0
    for path in sorted(files.keys() - rows.keys()):
        try:
            row = _row(path, read_record(root / path))
            state = _state((root / path).stat())
            rows[path] = row
            if state == files[path]:
                lines.append(_line(row, state))
            else:  # it was changed meanwhile
                del files[path]
        except ResultsError as error:
            problems.append(str(error))
        except OSError:  # it has just been removed
            continue
        if len(lines) == BATCH:
            _write(root, lines)
            count, lines = count + len(lines), []
    _write(root, lines)
    return count + len(lines)


def _row(path: str, record: Any) -> IndexRow:
    columns = {name: getattr(record, name) for name in RECORD_COLUMNS}
    columns |= {name: getattr(record.runtime, name) for name in RUNTIME_COLUMNS}
    return _shared(list(IndexRow(path=path, records=len(record.metrics), **columns)))


def _shared(values: list[Any]) -> IndexRow:
    """The row of these values.

    From `bug` on many rows share the same texts; each text is kept once.
    """
    shared = [sys.intern(value) if type(value) is str else value for value in values[7:]]
    return IndexRow(*values[:7], *shared)


def _line(row: IndexRow, state: State) -> bytes:
    text = json.dumps([*state, *row], separators=(",", ":")).encode()
    return _checksum(text) + text


def _checksum(text: bytes) -> bytes:
    return b"%08x " % crc32(text, SEED)


def _write(root: Path, lines: Iterable[bytes], flag: int = os.O_APPEND) -> None:
    """Write lines with one call.

    A newline comes first, because a program that was killed may have left half a line.
    """
    text = b"".join(b"\n" + line for line in lines)
    if not text:
        return
    with suppress(OSError):
        file = os.open(root / INDEX, os.O_WRONLY | os.O_CREAT | CAREFULLY | flag, 0o666)
        with os.fdopen(file, "wb", buffering=0) as stream:
            stream.write(text + b"\n")
