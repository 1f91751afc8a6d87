"""The results folder, with records, logs and verdicts; only this module knows its paths."""

import errno
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from runner.errors import ResultsError
from runner.files.atomic import unwritable, write_json
from runner.files.locks import Scratch, remove
from runner.results import index
from runner.results.record import RunRecord, VerdictRecord, encode, file_name, read_record, read_verdict, record_name

# A disk with less free space than this counts as full.
ROOM_BYTES = 65536


@dataclass(frozen=True)
class Store:
    """A results folder: <root>/<bug>/<case>/<variant>-seed<seed>-<key>.json, logs in `logs` beside it."""

    root: Path

    @cached_property
    def scratch(self) -> Scratch:
        """The temporary folder of this object; raises ResultsError where nothing can be written."""
        try:
            return Scratch(self.root)
        except OSError as error:
            raise unwritable(self.root, error) from error

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
        return self.case_directory(record.bug, record.case) / "logs" / f"{record_name(record)}.{stream}"

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

    def save_verdict(self, bug: str, case: str, injected: bool, verdict: VerdictRecord) -> None:
        """Write a verdict atomically; raises ResultsError."""
        write_json(self.verdict_path(bug, case, injected), encode(verdict), self.scratch.path)

    def other_repeats(self, records: Sequence[RunRecord]) -> list[RunRecord]:
        """Repeats of these runs by earlier commands, in order, up to the first one that lacks a finished run."""
        first = [record for record in records if record.repeat == 1]
        earlier: list[RunRecord] = []
        for repeat in itertools.count(max((record.repeat for record in records), default=1) + 1):
            candidates = [self.find(r.bug, r.case, record_name(replace(r, repeat=repeat)), r.key) for r in first]
            repeats = [record for record in candidates if record is not None]
            if not repeats or len(repeats) < len(first):
                return earlier
            earlier += repeats
        raise AssertionError("counting ends by itself only where there are no records")

    def records(self, bugs: Iterable[str] = ()) -> index.Found[RunRecord]:
        """All records, or those of the named bugs, oldest first; files that cannot be read are its `problems`."""
        return index.find(self.root, bugs, read_record)

    def judged_runs(self, bug: str, case: str) -> list[RunRecord]:
        """The records behind the case's verdict.json, failed runs included; none where there is no verdict.

        Raises ResultsError where one of these files cannot be read.
        """
        path = self.verdict_path(bug, case)
        if not path.exists():
            return []
        return [
            read_record(path.parent / f"{file_name(run.variant, run.seed, run.key, run.repeat)}.json")
            for run in read_verdict(path).runs
        ]

    @contextmanager
    def working_directory(self) -> Iterator[Path]:
        """A new empty directory for one run, removed afterwards; raises ResultsError where it cannot be made."""
        path = None
        try:
            path = Path(tempfile.mkdtemp(prefix="run-", dir=self.scratch.path))
            yield path
        except OSError as error:
            raise unwritable(self.root, error) from error
        finally:
            if path:
                remove(path)

    def check_room(self) -> None:
        """Raise ResultsError where the disk is full: a run that failed there says nothing about its script."""
        if shutil.disk_usage(self.scratch.path).free < ROOM_BYTES:
            raise unwritable(self.root, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def save_logs(self, record: RunRecord, logs: Mapping[str, bytes]) -> None:
        """Write the logs of a run on another machine, by stream; raises ResultsError."""
        for stream, text in logs.items():
            path = self.log_path(record, stream)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
            except OSError as error:
                raise unwritable(path, error) from error

    def keep_logs(self, record: RunRecord, directory: Path) -> None:
        """Move the run's `stdout` and `stderr` from its working directory to the results folder."""
        for stream in ("stdout", "stderr"):
            if (directory / stream).exists():
                kept = self.log_path(record, stream)
                kept.parent.mkdir(parents=True, exist_ok=True)
                (directory / stream).replace(kept)
