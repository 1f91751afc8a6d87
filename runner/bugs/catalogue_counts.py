"""Numbers of bugs by the closed lists of their labels: for each list, its entries by location."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from runner.bugs.bug import Bug
from runner.bugs.taxonomy import LISTS, REALISM

# What is counted where a bug says nothing.
UNCLASSIFIED = "not said"

ROWS: Mapping[str, tuple[str, ...]] = {
    **{name: LISTS[name] for name in ("cause", "effect", "stage")},
    "realism": REALISM,
}
# List -> entry -> location -> bugs.
Numbers = Mapping[str, Mapping[str, Mapping[str, int]]]


def count(bugs: Iterable[Bug]) -> Numbers:
    """The numbers of bugs that are not retired: by cause, effect, stage and realism, each by
    location.

    Entries that no bug has are there with zeros: they are what is lacking. A bug whose cases differ
    in realism is counted once, by its first case.
    """
    active = [bug for bug in bugs if bug.retired is None]
    return {name: _count_list(active, name) for name in ROWS}


def _count_list(bugs: Iterable[Bug], name: str) -> dict[str, dict[str, int]]:
    """The numbers by the entries of one list, and by location."""
    pairs: Counter[tuple[str, str]] = Counter()
    for bug in bugs:
        pairs[_entry(bug, name), bug.labels.location] += 1
    numbers = {}
    for entry in _entries(name, pairs):
        numbers[entry] = {place: pairs[entry, place] for place in LISTS["location"]}
    return numbers


def _entries(name: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield from ROWS[name]
    if any(entry == UNCLASSIFIED for entry, _ in pairs):
        yield UNCLASSIFIED


def _entry(bug: Bug, name: str) -> str:
    if name != "realism":
        return getattr(bug.labels, name) or UNCLASSIFIED
    first = next(iter(bug.cases.values())).provenance
    return first.realism if first else UNCLASSIFIED
