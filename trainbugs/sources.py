"""Records of runs by their source: committed with the catalogue, or in a results folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from evaluation.reading.sources import Source, select_cases
from runner.bugs.bug import Target
from runner.bugs.catalog import NAME, Catalog
from runner.errors import ResultsError, UsageError
from runner.results.expected import expected_paths, expected_records
from runner.results.record import RunRecord, read_record
from runner.results.store import Store

# What was read, and a line for each file that cannot be read.
Read: TypeAlias = tuple[Iterable[RunRecord], Sequence[str]]


def expected(catalog: Catalog, names: Sequence[str]) -> Read:
    """The expected records of the named cases, or of all; raises UsageError or CatalogError for a name."""
    bugs, problems = catalog.readable() if not names else ([], [])
    chosen = [(bug, case) for bug in bugs for case in bug.cases]
    chosen += [(target.bug, target.case.name) for target in select_cases(catalog, names)]
    records = []
    # A file is read once, where a case is named twice.
    for path in dict.fromkeys(path for bug, case in chosen for path in expected_paths(bug, case)):
        try:
            records.append(read_record(path))
        except ResultsError as error:
            problems.append(str(error))
    return records, problems


def results(catalog: Catalog, names: Sequence[str], folder: Path) -> Read:
    """The records of a results folder, of the named cases or all.

    Raises UsageError for a name that neither the folder nor the catalogue has, and for one without records.
    """
    inner = {name: _folders(catalog, name, folder) for name in names}
    found = Store(folder).records(part for parts in inner.values() for part in parts)
    lacking = [
        name
        for name, parts in inner.items()
        if not any(_lies_in(row.path, parts) for row in found.rows)
    ]
    if (lacking or not found) and not found.problems:
        raise UsageError(
            f"there are no records of {', '.join(lacking) or 'any bug'} in {folder}; trainbugs.run makes them"
        )
    return found, found.problems


def _folders(catalog: Catalog, name: str, folder: Path) -> list[str]:
    """The folders of a bug or a case in a results folder, which may hold bugs that the catalogue lacks."""
    if all(NAME.fullmatch(part) for part in name.split("/")) and (folder / name).is_dir():
        return [name]
    return [target.case.id for target in select_cases(catalog, [name])]


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def behind_verdict(target: Target, source: Source, folder: Path) -> list[RunRecord]:
    """The expected records of a case, or those behind its last verdict; raises UsageError where there are none.

    Raises ResultsError where one cannot be read.
    """
    if source == "expected":
        records, where = expected_records(target.bug, target.case.name), "expected records"
    else:
        records, where = (
            Store(folder).judged_runs(target.bug.id, target.case.name),
            f"verdict in {folder}",
        )
    if not records:
        raise UsageError(
            f"{target.case.id} has no {where}; trainbugs.run({target.case.id!r}) makes results"
        )
    return records
