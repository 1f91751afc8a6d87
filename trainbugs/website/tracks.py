"""The page of reviews and repairs: committed scores of the two tracks for people and models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from evaluation.repair.scoring import ROW as REPAIR_ROW
from evaluation.repair.scoring import RepairScore
from evaluation.review.scoring import ROW as REVIEW_ROW
from evaluation.review.scoring import ReviewScore
from runner.files import untrusted
from runner.files.structs import as_struct

REVIEWS, REPAIRS = "benchmarks/reviews.json", "benchmarks/repairs.json"
MAX_BYTES = 2_000_000
UNKNOWN = "-"

S = TypeVar("S")


class ReviewScores(Struct, frozen=True):
    """What benchmarks/reviewers.py writes."""

    schema: int
    catalogue: int
    scores: tuple[ReviewScore, ...]


class RepairScores(Struct, frozen=True):
    """What benchmarks/repair_grades.py writes; `cases` is how many cases the track has."""

    schema: int
    catalogue: int
    cases: int
    scores: tuple[RepairScore, ...]


@dataclass(frozen=True)
class TrackTable:
    """Scores as columns of words; `source` is the file that they come from, `about` says what they
    are about.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str
    about: str


def reviews(root: Path) -> TrackTable | None:
    """The scores of reviewers, None where no file has any; raises UnsafeError, MismatchError."""
    if not (root / REVIEWS).is_file():
        return None
    read = as_struct(untrusted.read_json(root / REVIEWS, MAX_BYTES, root), ReviewScores)
    about = f"version {read.catalogue} of the catalogue"
    return _table(REVIEW_ROW, read.scores, REVIEWS, about)


def repairs(root: Path) -> TrackTable | None:
    """The scores of repairers, None where no file has any; raises UnsafeError, MismatchError."""
    if not (root / REPAIRS).is_file():
        return None
    read = as_struct(untrusted.read_json(root / REPAIRS, MAX_BYTES, root), RepairScores)
    graded = max((score.tasks for score in read.scores), default=0)
    about = f"{graded} of {read.cases} cases in version {read.catalogue} of the catalogue"
    return _table(REPAIR_ROW, read.scores, REPAIRS, about)


def _table(
    row: Mapping[str, Callable[[S], str]], scores: Sequence[S], source: str, about: str
) -> TrackTable:
    """A column that says nothing of any row is left out."""
    cells = {name: list(map(column, scores)) for name, column in row.items()}
    shown = {name: texts for name, texts in cells.items() if {*texts} != {UNKNOWN}}
    rows = tuple(zip(*shown.values(), strict=True))
    return TrackTable(tuple(shown), rows, source, about)
