"""Tables that a script searches, filters and sorts: for each row its words,
its facets and its sort keys.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = str | float | None
# A word, in a row and in a query: punctuation stays only within it. site.js has the same in its own
# syntax.
WORD = r"[\w.+-]*\w"
# Numbers of results, which nobody searches for; a release has fewer digits behind a point.
RESULT = re.compile(r"[-+]?\d+\.\d{3,}")


@dataclass(frozen=True)
class Indexed:
    """One row: a key, the words by which it is found, its values of each facet,
    and what sorts it by each column.
    """

    key: str
    words: str
    facets: Mapping[str, Sequence[str]]
    order: Mapping[str, Value]


@dataclass(frozen=True)
class Facet:
    """A filter: its name in the address, its label, its values with how many rows have each,
    and what is chosen.

    The numbers are not shown where they would read as numbers of something else (`counted`).
    """

    name: str
    label: str
    values: Mapping[str, int]
    chosen: str = ""
    counted: bool = True


def facet(
    name: str,
    label: str,
    rows: Sequence[Indexed],
    order: Sequence[str] = (),
    chosen: str = "",
    counted: bool = True,
) -> Facet:
    """The filter by a facet of rows; values come in the order given,
    all others after them by name.
    """
    counts: dict[str, int] = {}
    for row in rows:
        for value in dict.fromkeys(row.facets.get(name, ())):
            counts[value] = counts.get(value, 0) + 1
    ordered = [value for value in order if value in counts]
    ordered += sorted(set(counts) - set(ordered))
    values = {value: counts[value] for value in ordered}
    return Facet(name, label, values, chosen, counted)


def index(rows: Sequence[Indexed]) -> list[dict[str, Any]]:
    """The rows for the script of a page."""
    return [
        {
            "key": row.key,
            "words": row.words,
            "facets": _lists(row.facets),
            "order": row.order,
        }
        for row in rows
    ]


def _lists(facets: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: list(values) for name, values in facets.items()}


def words(*texts: str) -> str:
    """The different words of texts in small letters, once each: what a search looks through.

    A search finds parts of words. So a word that is a part of another one is left out. So are
    numbers of results.
    """
    matches = [word for word in re.findall(WORD, " ".join(texts).lower()) if len(word) > 1]
    different = dict.fromkeys(word for word in matches if not RESULT.fullmatch(word))
    joined = " ".join(different)
    return " ".join(word for word in different if joined.count(word) == 1)
