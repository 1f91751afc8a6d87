"""detectors/authors.json: who wrote a detector, or the tool that it runs, and since when that
version is what it is. A submission says so itself.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from evaluation.catalog import submissions
from evaluation.catalog.frozen import Date
from evaluation.model import DetectorName, Text
from runner.bugs.catalog import check, read_json

# The author of detectors that were written for this repository.
MAINTAINERS = "the maintainers of trainbugs"


class Authorship(Struct, frozen=True, forbid_unknown_fields=True):
    """The authors of a detector, or of the tool that it runs, and the day of its version."""

    authors: Annotated[
        tuple[Text, ...], Meta(min_length=1, description="as the package, or the paper, names them")
    ]
    day: Annotated[
        Date,
        Meta(description="on which the tool's version came out, or the detector was last changed"),
    ]


def ours(root: Path) -> set[str]:
    """The detectors that the maintainers of this repository wrote; raises CatalogError."""
    return {name for name, entry in load(root).items() if entry.authors == (MAINTAINERS,)}


def load(root: Path) -> Mapping[str, Authorship]:
    """The authorship by detector, of submissions too; raises CatalogError."""
    path = root / "detectors" / "authors.json"
    authorships: dict[str, Authorship] = {}
    if path.is_file():
        authorships = check(read_json(path), dict[DetectorName, Authorship], path)
    for name in submissions.names(root):
        submission, _ = submissions.load(root, name)
        authorships[name] = Authorship(submission.authors, submission.since)
    return authorships
