"""Expected records, which are committed with a bug: those of its cases, and those of its map of
versions.
"""

from functools import lru_cache
from pathlib import Path

import msgspec

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.program import UPSTREAM
from runner.errors import ResultsError
from runner.files import untrusted
from runner.files.state import FileState, file_state
from runner.results.record import (
    METRICS,
    START_BYTES,
    Amount,
    RunRecord,
    Time,
    read_record,
    run_name,
)

# The folder of expected records from other environments; no case may have this name.
VERSIONS = "versions"
# Kinds of devices. Records that were made on a GPU lie in a folder of this name, beside those of a
# CPU.
CPU, CUDA = "cpu", "cuda"


def expected_path(bug: Bug, record: RunRecord) -> Path:
    """The path of the bug's expected record for the same case, variant, seed and kind of device."""
    folder = _folder(bug, record.case, record.runtime.kind_of_device)
    if record.variant == UPSTREAM:
        folder /= UPSTREAM
    return folder / f"{run_name(record)}.json"


def expected_records(bug: Bug, case: str, device: str = CPU) -> list[RunRecord]:
    """The expected records of the two variants on that kind of device, by name; raises ResultsError
    for an odd one.
    """
    return [read_expected_record(path) for path in expected_paths(bug, case, device)]


def upstream_records(bug: Bug, case: str, device: str = CPU) -> list[RunRecord]:
    """The expected records of a case's variant `upstream`, which lie apart; raises ResultsError as
    above.
    """
    folder = _folder(bug, case, device) / UPSTREAM
    return [read_expected_record(path) for path in sorted(folder.glob("*-seed*.json"))]


def recorded_devices(bug: Bug, case: str) -> tuple[str, ...]:
    """The kinds of devices of which the case has expected records."""
    return tuple(device for device in (CPU, CUDA) if expected_paths(bug, case, device))


def expected_seconds(bug: Bug, case: str) -> list[float]:
    """The `wall_s` (seconds) of each expected record of a case; raises ResultsError.

    Metrics are not read.
    """
    return [_start(path).wall_s for path in expected_paths(bug, case)]


def expected_days(bug: Bug) -> list[str]:
    """The day (YYYY-MM-DD) of each expected record of a bug's cases that can be read.

    Metrics are not read.
    """
    paths = [path for case in bug.cases for path in expected_paths(bug, case)]
    days = []
    for path in paths:
        try:
            days.append(_start(path).started[:10])
        except ResultsError:
            continue
    return days


def expected_paths(bug: Bug, case: str, device: str = CPU) -> list[Path]:
    """The files of the expected records of a case on that kind of device, by name."""
    return sorted(_folder(bug, case, device).glob("*-seed*.json"))


def read_expected_record(path: Path) -> RunRecord:
    """The record in a file, read once for each state of the file; raises ResultsError."""
    state = file_state(path)
    return read_record(path) if state is None else _read_in_state(path, state)


# Above the number of all there are: the website shows each, and has them in a table. All together
# are small.
@lru_cache(maxsize=4096)
def _read_in_state(path: Path, state: FileState) -> RunRecord:
    return read_record(path)


def _folder(bug: Bug, case: str, device: str) -> Path:
    folder = bug.expected / case
    return folder / CUDA if device == CUDA else folder


class _Start(msgspec.Struct):
    started: Time
    wall_s: Amount


def _start(path: Path) -> _Start | RunRecord:
    try:
        start, metrics, _ = untrusted.read_start(path, START_BYTES).partition(METRICS)
        if metrics:
            return msgspec.json.decode(start + b"}", type=_Start)
    except (untrusted.UnsafeError, msgspec.DecodeError):
        pass
    # A file of another layout is read as a whole, so that the error names what is wrong with it.
    return read_record(path)


def version_path(bug: Bug, record: RunRecord) -> Path:
    """The path of a record in the bug's map of versions."""
    folder = bug.expected / VERSIONS / record.runtime.environment / record.case
    return folder / f"{run_name(record)}.json"


def version_records(bug: Bug) -> list[RunRecord]:
    """The records behind the bug's expected map of versions; raises ResultsError for one that
    cannot be read.
    """
    paths = sorted((bug.expected / VERSIONS).glob("*/*/*-seed*.json"))
    return [read_expected_record(path) for path in paths]


def expected_runs(bug: Bug) -> dict[str, list[RunRecord]]:
    """The expected records by case; cases without any are left out. Raises ResultsError."""
    by_case = {case: expected_records(bug, case) for case in bug.cases}
    return {case: records for case, records in by_case.items() if records}


def seconds(bug: Bug, case: Case) -> float | None:
    """Wall seconds of all runs of a case together, from its expected records; None where there are
    none to read.
    """
    try:
        run_seconds = expected_seconds(bug, case.name)
    except ResultsError:
        return None
    return sum(run_seconds) if run_seconds else None
