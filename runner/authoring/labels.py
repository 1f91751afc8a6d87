"""Checks of a bug's labels and provenance: both are optional in config.json, and asked for of a bug
that is added.
"""

from collections.abc import Iterator, Sequence

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.labels import Provenance
from runner.bugs.program import VARIANTS
from runner.bugs.taxonomy import LISTS
from runner.field_types import Record
from runner.results.record import RunRecord
from runner.verdicts.verdict import metrics_by_seed

# Fields of records that count.
COUNTERS = ("epoch", "step", "iteration", "update", "call", "seconds", "best_epoch")


def check_labels(bug: Bug) -> Iterator[str]:
    """Yield what is missing in the labels, and a location that the site contradicts."""
    for name, entries in LISTS.items():
        if getattr(bug.labels, name) is None:
            yield (
                f"labels.{name} is missing; expected one of {', '.join(entries)} (docs/taxonomy.md)"
            )
    if bug.labels.location in ("framework", "compiler") and bug.site.file in {
        path.name for path in bug.scripts
    }:
        yield (
            f"labels.location is {bug.labels.location}, and site.file is {bug.site.file}, a script "
            "of the bug; name the file of the package at fault, or another location"
        )


def check_provenance(bug: Bug) -> Iterator[str]:
    """Yield the cases without provenance, and what it names that the README does not."""
    names = [case.name for case in bug.cases.values() if case.provenance is None]
    if names:
        cases = f"case{'s' if len(names) > 1 else ''} {', '.join(names)}"
        yield (
            f"provenance is missing ({cases}): derived_from, realism and differs "
            "(docs/contributing-bugs.md)"
        )
    path = bug.directory / "README.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for item in _different(bug) if text else ():
        for link in (origin.link for origin in item.derived_from):
            if link not in text:
                yield f"README.md does not name {link}, which provenance.derived_from names"
        if " ".join(item.differs.split()) not in " ".join(text.split()):
            yield f"README.md does not say what provenance.differs says: {item.differs}"


def check_wrong_evaluation(bug: Bug, case: Case, records: Sequence[RunRecord]) -> Iterator[str]:
    """`wrong evaluation` means that training is right: it begins alike in both variants.

    Later it may differ: rates depend on validations, and dropout draws numbers. Where samples leak,
    training sees other samples from the start.
    """
    is_leak = bug.labels.stage == "data"
    if bug.labels.effect != "wrong evaluation" or is_leak or case.benign or not records:
        return
    common: set[str] | None = None
    for by_variant in metrics_by_seed(records).values():
        equal = _equal_metrics(*(by_variant.get(name, ()) for name in VARIANTS))
        common = equal if common is None else common & equal
    if not (common or set()) - {case.plot.x, *COUNTERS}:
        yield (
            f"case {case.name}: labels.effect is wrong evaluation, and no metric is equal in the "
            "first records of both variants; docs/taxonomy.md says what the label means"
        )


def _equal_metrics(buggy: Sequence[Record], fixed: Sequence[Record]) -> set[str]:
    """The metrics that the first records of two runs have in common."""
    if not buggy or not fixed:
        return set()
    return {name for name, value in buggy[0].items() if fixed[0].get(name, object()) == value}


def _different(bug: Bug) -> list[Provenance]:
    return list(
        dict.fromkeys(case.provenance for case in bug.cases.values() if case.provenance is not None)
    )
