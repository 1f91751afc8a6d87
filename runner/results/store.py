"""The results folder, with records, logs and verdicts; only this module knows its paths."""

import errno
import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from runner.bugs.bug import Bug
from runner.bugs.catalog import NAME, Catalog
from runner.bugs.config import RESERVED_IDS
from runner.errors import ResultsError, UsageError
from runner.files import untrusted
from runner.files.atomic import unwritable, write_bytes, write_json, write_text
from runner.files.folders import inside
from runner.files.locks import CLAIMS, WORK, Scratch, TemporaryFolder, sweep
from runner.files.trees import remove_tree
from runner.results import folder_index
from runner.results.record import (
    RunRecord,
    VerdictRecord,
    encode,
    file_name,
    read_record,
    read_verdict,
    record_name,
)
from runner.sandbox.streams import Streams, keep, open_streams

# A disk with less free space than this counts as full.
ROOM_BYTES = 65536
# Beside the runs of a bug that is not of the catalogue: a file with the path of its directory.
OWNER = ".directory"
MAX_OWNER_BYTES = 10_000
# Threads share the folders of a store. From Python 3.12 on, a cached property is made twice where
# two of them ask for it at once, and the folder that one of them works in would be removed.
_MAKING = threading.Lock()


@dataclass(frozen=True)
class Store:
    """A results folder: <root>/<bug>/<case>/<variant>-seed<seed>-<key>.json, logs in `logs` beside
    it.
    """

    root: Path

    @property
    def scratch(self) -> Scratch:
        """The temporary folder of this object; raises ResultsError where nothing can be written."""
        with _MAKING:
            return self._scratch

    @property
    def work(self) -> TemporaryFolder:
        """The folder of the working directories of programs, far from any results; raises
        ResultsError.
        """
        with _MAKING:
            return self._work

    @cached_property
    def _scratch(self) -> Scratch:
        try:
            return Scratch(self.root)
        except IsADirectoryError as error:
            raise ResultsError(
                f"{untrusted.shown(self.root / CLAIMS)}: is a folder, expected a file; remove it"
            ) from error
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise ResultsError(
                    f"{untrusted.shown(self.root / CLAIMS)}: is a link, expected a file; remove it"
                ) from error
            raise unwritable(self.root, error) from error

    @cached_property
    def _work(self) -> TemporaryFolder:
        folder = Path(tempfile.gettempdir())
        if "\n" in str(folder):
            raise ResultsError(
                f"TMPDIR is {untrusted.shown(folder)}, which has a line break; name another folder "
                "for temporary files"
            )
        try:
            return TemporaryFolder(folder, WORK)
        except OSError as error:
            raise unwritable(folder, error) from error

    def sweep(self) -> None:
        """Remove what commands that were killed have left; one that has nothing to do makes no
        folders of its own.
        """
        sweep(self.root)
        sweep(Path(tempfile.gettempdir()), WORK)

    def _here(self, path: Path) -> Path:
        """A path to write to; raises ResultsError where a link leads out of the results folder."""
        return inside(path, self.root)

    def case_directory(self, bug: str, case: str) -> Path:
        """The folder of a case's records and verdicts."""
        return self.root / bug / case

    def record_path(self, record: RunRecord) -> Path:
        """The path of a record."""
        return self.case_directory(record.bug, record.case) / f"{record_name(record)}.json"

    def verdict_path(self, bug: str, case: str, injected: bool = False) -> Path:
        """The path of a case's verdict; with `injected`, of runs with the fault put back."""
        return self.case_directory(bug, case) / f"verdict{'-injected' if injected else ''}.json"

    def log_path(self, record: RunRecord, stream: str) -> Path:
        """The path of the run's `stdout` or `stderr`."""
        return (
            self.case_directory(record.bug, record.case)
            / "logs"
            / f"{record_name(record)}.{stream}"
        )

    def reserve(self, catalog: Catalog, bug: Bug) -> None:
        """Keep a bug's folder for the runs of this bug directory: `check_owner` refuses others.

        Raises ResultsError.
        """
        self.check_owner(catalog, bug)
        if catalog.outside(bug) and self._owner(bug.id) is None:
            owner = f"{untrusted.shown(bug.directory)}\n"
            path = self._here(self.root / bug.id / OWNER)
            write_text(path, owner, self.scratch.path)

    def check_owner(self, catalog: Catalog, bug: Bug) -> None:
        """Raise ResultsError where the runs of that ID belong to another bug directory.

        Records, verdicts and figures are found by the ID: two bugs would be mixed up.
        """
        owner, folder = self._owner(bug.id), self.root / bug.id
        if owner is None and catalog.outside(bug) and bug.id in catalog.ids() and folder.exists():
            owner = f"{catalog.root / 'bugs' / bug.id}"
        directory = untrusted.shown(bug.directory)
        if owner and owner != directory:
            raise ResultsError(
                f"{untrusted.shown(folder)} holds runs of {untrusted.shown(Path(owner))}, which "
                f"has the same ID as {directory}; name another folder by --results, or give one of "
                "them another ID"
            )

    def _owner(self, bug: str) -> str | None:
        path = self.root / bug / OWNER
        if not os.path.lexists(path):
            return None
        try:
            return untrusted.read_text(path, MAX_OWNER_BYTES).removesuffix("\n")
        except untrusted.UnsafeError as error:
            raise ResultsError(f"{untrusted.shown(path)}: {error}; remove it") from error

    def find(
        self,
        bug: str,
        case: str,
        file_name: str,
        key: str,
        say: Callable[[str], None] = lambda text: None,
        failed: bool = False,
    ) -> RunRecord | None:
        """The finished (`ok`) run with that key, or None; with `failed`, also one that did not end
        as it should.

        A file in its place that is foreign or edited counts as none: `say` gets a line about it. A
        record is believed where its metrics match its digest.
        """
        path = self.case_directory(bug, case) / f"{file_name}.json"
        if not os.path.lexists(path):
            return None
        try:
            record = read_record(path)
        except ResultsError as error:
            say(str(error))
            return None
        if not (record.ok or failed):
            return None
        if record.key != key or self.record_path(record) != path:
            say(f"{untrusted.shown(path)}: is the record of another run")
            return None
        if record.ok and record.metrics_digest is None:
            say(f"{untrusted.shown(path)}: has no digest of its metrics")
            return None
        return record

    def save(self, record: RunRecord) -> Path:
        """Write the record atomically; raises ResultsError."""
        path = self._here(self.record_path(record))
        write_json(path, encode(record), self.scratch.path)
        folder_index.append(self.root, path, read_record)
        return path

    def save_verdict(self, bug: str, case: str, injected: bool, verdict: VerdictRecord) -> None:
        """Write a verdict atomically; raises ResultsError."""
        path = self._here(self.verdict_path(bug, case, injected))
        write_json(path, encode(verdict), self.scratch.path)

    def other_repeats(self, records: Sequence[RunRecord]) -> list[RunRecord]:
        """Repeats of these runs by earlier commands, in order, up to the first one that lacks a
        finished run.
        """
        first = [record for record in records if record.repeat == 1]
        last_repeat = max((record.repeat for record in records), default=1)
        earlier: list[RunRecord] = []
        for repeat in itertools.count(last_repeat + 1):
            repeats: list[RunRecord] = []
            for record in first:
                name = record_name(replace(record, repeat=repeat))
                repeated = self.find(record.bug, record.case, name, record.key)
                if repeated is not None:
                    repeats.append(repeated)
            if not repeats or len(repeats) < len(first):
                return earlier
            earlier += repeats
        raise AssertionError("counting ends by itself only where there are no records")

    def bugs(self) -> list[str]:
        """The IDs of the bugs that have a folder here."""
        folders = [path.name for path in self.root.glob("*/") if NAME.fullmatch(path.name)]
        return sorted(name for name in folders if name not in RESERVED_IDS)

    def records(self, bugs: Iterable[str] = ()) -> folder_index.FolderRecords[RunRecord]:
        """All records, or those of each BUG or BUG/CASE, oldest first; files that cannot be read
        are its `problems`.

        Raises UsageError for anything else that is named: a path could lead out of the folder.
        """
        bugs = list(bugs)
        for name in bugs:
            if not all(NAME.fullmatch(part) for part in name.split("/")):
                raise UsageError(
                    f"{name!r} is no ID of a bug; expected BUG or BUG/CASE, of "
                    f"{untrusted.shown(self.root)}"
                )
        return folder_index.find(self.root, bugs, read_record)

    def judged_runs(self, bug: str, case: str) -> list[RunRecord]:
        """The records behind the case's verdict.json, failed runs included; none where there is no
        verdict.

        Raises ResultsError where one of these files cannot be read.
        """
        path = self.verdict_path(bug, case)
        if not path.exists():
            return []
        records = []
        for run in read_verdict(path).runs:
            name = file_name(run.variant, run.seed, run.key, run.repeat)
            records.append(read_record(path.parent / f"{name}.json"))
        return records

    @contextmanager
    def working_directory(self) -> Iterator[Path]:
        """A new empty directory for one run, removed afterwards; raises ResultsError where nothing
        can be written to it.

        What writes elsewhere meanwhile raises a ResultsError of its own, which names its folder.
        """
        path = None
        try:
            path = Path(tempfile.mkdtemp(prefix="run-", dir=self.work.path))
            yield path
        except OSError as error:
            raise unwritable(self.work.path.parent, error) from error
        finally:
            if path:
                remove_tree(path)

    @contextmanager
    def streams(self) -> Iterator[Streams]:
        """Streams for a program, on the disk of the results; raises ResultsError where they cannot
        be made.
        """
        with ExitStack() as stack:
            try:
                streams = stack.enter_context(open_streams(self.scratch.path))
            except OSError as error:
                raise unwritable(self.root, error) from error
            yield streams

    def check_room(self) -> None:
        """Raise ResultsError where the disk is full: a run that failed there says nothing about its
        script.
        """
        for folder in (self.scratch.path, self.work.path):
            if shutil.disk_usage(folder).free < ROOM_BYTES:
                raise unwritable(folder.parent, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def save_logs(self, record: RunRecord, logs: Mapping[str, bytes]) -> None:
        """Write the logs of a run on another machine, by stream, in the place of whatever is there;
        raises ResultsError.
        """
        for stream, text in logs.items():
            path = self._here(self.log_path(record, stream))
            write_bytes(path, text, self.scratch.path)

    def keep_logs(self, record: RunRecord, streams: Streams) -> None:
        """Write what the run's program has said to the results folder; raises ResultsError."""
        for name, stream in streams._asdict().items():
            path = self._here(self.log_path(record, name))
            try:
                keep(stream, path, self.scratch.path)
            except OSError as error:
                raise unwritable(path, error) from error
