"""Records of evaluations from the folders in which they are kept: a user's own, committed ones,
submitted ones.
"""

from collections.abc import Sequence
from pathlib import Path

from evaluation.catalog import submissions
from evaluation.reading.codes import newest_records
from evaluation.records import Records, merge_records
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore


def load_results(folder: Path, detectors: Sequence[str] = ()) -> Records:
    """The records of all detectors in a folder, or of some; of each detector the newest code.

    Files that cannot be read are in the `problems`.
    """
    return newest_records(CheckStore(folder).read(detectors))


def load_committed(root: Path, detectors: Sequence[str] = ()) -> Records:
    """The committed records of a catalogue's detectors; raises ResultsError."""
    return CommittedChecks(committed_folder(root)).read(detectors)


def load_submitted(root: Path, detectors: Sequence[str] = ()) -> Records:
    """The records of submitted detectors, all or some; raises ResultsError."""
    names = [name for name in submissions.names(root) if name in detectors or not detectors]
    folders = [root / submissions.FOLDER / name for name in names]
    return merge_records([CommittedChecks(folder).read() for folder in folders])


def committed_folder(root: Path) -> Path:
    """Where the records of a catalogue's own detectors are committed."""
    return root / "detectors" / "expected"


def earlier_folder(root: Path) -> Path:
    """Where records by an earlier kit are kept: by further seeds and of rewritten programs, and of
    the same programs as published by their first seed.
    """
    return root / "detectors" / "earlier"


def is_earlier(root: Path, part: str) -> bool:
    """Whether only an earlier kit has made a part of the committed records of a catalogue's own
    detectors: further seeds, or rewritten programs.
    """
    today, earlier = committed_folder(root), earlier_folder(root)
    return (earlier / part).is_dir() and not (today / part).is_dir()


def folder_with(root: Path, part: str) -> Path:
    """Where this part is: by the kit of today, or by an earlier one if that alone has it."""
    return earlier_folder(root) if is_earlier(root, part) else committed_folder(root)


def committed_folders(root: Path, part: str, with_submissions: bool) -> list[Path]:
    """The folders with a part of the committed records: of submissions, if they count,
    and of the catalogue's own detectors.
    """
    names = submissions.names(root) if with_submissions else []
    return [*(root / submissions.FOLDER / name for name in names), folder_with(root, part)]
