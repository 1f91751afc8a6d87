"""Numbers of bugs by closed lists: their labels by location, and whose code is at fault by harm."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.taxonomy import DECLARED, LISTS, REALISM

# What is counted where a bug says nothing.
UNCLASSIFIED = "not said"

ROWS: Mapping[str, tuple[str, ...]] = {
    **{name: LISTS[name] for name in ("cause", "effect", "stage")},
    "realism": REALISM,
    **DECLARED,
}
# List -> entry -> location -> bugs.
Numbers = Mapping[str, Mapping[str, Mapping[str, int]]]
# Code at fault -> harm -> bugs.
HarmNumbers = Mapping[str, Mapping[str, int]]


def counted_bugs(bugs: Iterable[Bug]) -> list[Bug]:
    """The bugs that count: they are not retired, and their fault is met and not put in."""
    return [bug for bug in bugs if bug.retired is None and not bug.is_injected]


def counted_cases(bug: Bug) -> list[Case]:
    """The cases of a bug that count: somebody has run them."""
    return [case for case in bug.cases.values() if not case.never_run]


def count(bugs: Iterable[Bug]) -> Numbers:
    """The numbers of bugs that count: by each list of ROWS, each by location.

    Entries that no bug has are there with zeros: they are what is lacking. A bug whose cases differ
    in realism is counted once, by its first case.
    """
    counted = counted_bugs(bugs)
    return {name: _count_list(counted, name) for name in ROWS}


def count_harm(bugs: Iterable[Bug]) -> HarmNumbers:
    """The numbers of bugs that are not retired by whose code is at fault, and by harm;
    injected ones too.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for bug in bugs:
        if bug.retired is None and bug.declared is not None:
            pairs[bug.declared.code_at_fault, bug.declared.harm.kind] += 1
    numbers = {}
    for code in DECLARED["code_at_fault"]:
        numbers[code] = {kind: pairs[code, kind] for kind in DECLARED["harm"]}
    return numbers


def count_families(bugs: Sequence[Bug]) -> int:
    """The number of families of the bugs that count."""
    return len({bug.family for bug in counted_bugs(bugs)})


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
    if name in DECLARED:
        return (bug.declared and bug.declared.entries[name]) or UNCLASSIFIED
    if name != "realism":
        return getattr(bug.labels, name) or UNCLASSIFIED
    first = next(iter(bug.cases.values())).provenance
    return first.realism if first else UNCLASSIFIED
