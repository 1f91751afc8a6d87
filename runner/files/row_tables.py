"""Tables of rows of texts as CSV files, which a program that may be stopped writes again and
again.
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from runner.files.atomic import replacing

R = TypeVar("R", bound=tuple[str, ...])


def read_rows(path: Path, kind: type[R]) -> list[R]:
    """The rows of a table, of a named tuple; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [kind(**row) for row in csv.DictReader(file)]


def write_rows(path: Path, fields: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Write the rows in their order, below the names of their fields; a reader sees the old
    table or the new one. Raises OSError.
    """
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows(rows)
