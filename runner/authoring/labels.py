"""Checks of a bug's labels and provenance: both are optional in config.json, and asked for of a bug
that is added.
"""

from collections.abc import Iterator

from runner.bugs.bug import Bug
from runner.bugs.labels import Provenance
from runner.bugs.taxonomy import LISTS


def check_labels(bug: Bug) -> Iterator[str]:
    """Yield what is missing in the labels, and a location that the site contradicts."""
    for name, entries in LISTS.items():
        if getattr(bug.labels, name) is None:
            yield f"labels.{name} is missing; expected one of {', '.join(entries)} (docs/taxonomy.md)"
    if bug.labels.location in ("framework", "compiler") and bug.site.file in {
        path.name for path in bug.scripts
    }:
        yield (
            f"labels.location is {bug.labels.location}, and site.file is {bug.site.file}, a script of the bug; "
            "name the file of the package at fault, or another location"
        )


def check_provenance(bug: Bug) -> Iterator[str]:
    """Yield the cases without provenance, and what it names that the README does not."""
    names = [case.name for case in bug.cases.values() if case.provenance is None]
    if names:
        cases = f"case{'s' if len(names) > 1 else ''} {', '.join(names)}"
        yield f"provenance is missing ({cases}): derived_from, realism and differs (CONTRIBUTING.md)"
    path = bug.directory / "README.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for item in _different(bug) if text else ():
        for link in (origin.link for origin in item.derived_from):
            if link not in text:
                yield f"README.md does not name {link}, which provenance.derived_from names"
        if " ".join(item.differs.split()) not in " ".join(text.split()):
            yield f"README.md does not say what provenance.differs says: {item.differs}"


def _different(bug: Bug) -> list[Provenance]:
    return list(
        dict.fromkeys(case.provenance for case in bug.cases.values() if case.provenance is not None)
    )
