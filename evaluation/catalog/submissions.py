"""Detectors of others.

submissions/<name>/ holds submission.json, the detector in the folder <name>, its records in
<name>.jsonl, and tables.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from evaluation.catalog import detectors, development, frozen
from evaluation.catalog.frozen import Date, Frozen
from evaluation.model import Detector, Text
from runner.bugs.catalog import check, read_json
from runner.errors import CatalogError
from runner.field_types import Name
from runner.files.folders import check_links
from runner.files.schema_errors import near
from runner.files.untrusted import UnsafeError, shown

FOLDER = "submissions"


class Submission(Struct, frozen=True, forbid_unknown_fields=True):
    """submission.json: who submits a detector, and what they knew."""

    schema: Literal[1]
    authors: Annotated[
        tuple[Text, ...], Meta(min_length=1, description="names, as a paper has them")
    ]
    licence: Annotated[Text, Meta(description="of the detector, by its SPDX identifier")]
    link: Annotated[
        Text, Meta(description="where to read more of it, or to ask: a paper, a repository")
    ]
    since: Annotated[Date, Meta(description="the day of this version")]
    developed_on: Annotated[
        tuple[Name, ...],
        Meta(description="bugs of this benchmark by which it was made, tuned or trained"),
    ]


def names(root: Path) -> list[str]:
    """Names of all submissions."""
    return sorted(path.parent.name for path in (root / FOLDER).glob("*/submission.json"))


def load(root: Path, name: str) -> tuple[Submission, Detector]:
    """A submission and its detector; raises CatalogError naming the file, the key and the value."""
    folder = root / FOLDER / name
    _refuse_links(folder)
    submission: Submission = check(
        read_json(folder / "submission.json"), Submission, folder / "submission.json"
    )
    if not (folder / name / "detector.json").is_file():
        raise CatalogError(
            f"{folder}: there is no {name}/detector.json; the detector's folder has the "
            "submission's name"
        )
    return submission, detectors.read(folder / name)


def _refuse_links(folder: Path) -> None:
    """Raise CatalogError where a submission is a link, or holds one that leads out of it."""
    if folder.is_symlink():
        raise CatalogError(f"{shown(folder)}: is a link, expected a folder")
    try:
        check_links(folder)
    except (UnsafeError, OSError) as error:
        raise CatalogError(f"{shown(folder)}: {error}") from error


def find_records(root: Path, detector: Detector) -> Path | None:
    """The folder with the records of a submitted detector; None for any other detector.

    Raises CatalogError where its submission.json says something else than it may.
    """
    name = detector.name
    if detector.directory != (root / FOLDER / name / name).resolve():
        return None
    load(root, name)
    return root / FOLDER / name


def _refuse_unknown(root: Path, name: str, bugs: Sequence[str]) -> None:
    """Raise CatalogError for a bug that is not there: it would count as one that is NEW."""
    known = {path.parent.name for path in (root / "bugs").glob("*/config.json")}
    for bug in bugs:
        if bug not in known:
            raise CatalogError(
                f"{FOLDER}/{name}/submission.json: developed_on names {bug!r}, which is no bug "
                f"here{near(bug, known)}"
            )


def load_frozen(root: Path) -> Mapping[str, Frozen]:
    """By detector, since when it is left alone and by which bugs it was made,
    or one of its rules is chosen.

    These are submissions, the frozen ones of ours, and those that development.json names. Raises
    CatalogError.
    """
    frozen_detectors = {}
    developed = development.load(root)
    if developed:
        for name in developed.detectors:
            detector = detectors.load(root, name)
            digest = frozen.digest(detector.directory)
            frozen_detectors[name] = Frozen(
                detector.version, developed.since, digest, developed.bugs
            )
    frozen_detectors |= frozen.load(root)
    for name in names(root):
        submission, detector = load(root, name)
        _refuse_unknown(root, name, submission.developed_on)
        digest = frozen.digest(detector.directory)
        frozen_detectors[name] = Frozen(
            detector.version, submission.since, digest, submission.developed_on
        )
    return frozen_detectors
