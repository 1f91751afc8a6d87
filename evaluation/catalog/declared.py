"""What the catalogue declares of the programs that detectors meet: families, kinds of fix,
and what does not count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog


@dataclass(frozen=True)
class DeclaredPrograms:
    """Families by bug, kinds of fix by BUG/CASE, and the cases that are in no score,
    each with its reason.
    """

    families: Mapping[str, str] = field(default_factory=dict)
    fixes: Mapping[str, str] = field(default_factory=dict)
    uncounted: Mapping[str, str] = field(default_factory=dict)

    def family(self, bug: str) -> str:
        """The family of a bug; its own ID where the catalogue does not have it."""
        return self.families.get(bug, bug)


def declared_programs(catalog: Catalog) -> DeclaredPrograms:
    """What the bugs of a catalogue declare; bugs that cannot be read declare nothing."""
    bugs, _ = catalog.readable()
    return collect(bugs)


def collect(bugs: Iterable[Bug]) -> DeclaredPrograms:
    """What these bugs declare."""
    families: dict[str, str] = {}
    fixes: dict[str, str] = {}
    uncounted: dict[str, str] = {}
    for bug in bugs:
        families[bug.id] = bug.family
        for case in bug.cases.values():
            fix = case.program.variants["fixed"].fix
            if fix:
                fixes[case.id] = fix
            reason = _why_uncounted(bug, case.never_run)
            if reason:
                uncounted[case.id] = reason
    return DeclaredPrograms(families, fixes, uncounted)


def _why_uncounted(bug: Bug, never_run: bool) -> str | None:
    if bug.retired:
        return "retired"
    if bug.is_injected:
        return "injected"
    return "never run" if never_run else None
