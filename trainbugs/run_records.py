"""Records of runs by their source: committed with the catalogue, or in a results folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from evaluation.reading.sources import Source, select_cases
from runner.bugs.bug import Target
from runner.bugs.catalog import NAME, Catalog
from runner.errors import ResultsError, UsageError
from runner.results.expected import expected_paths, expected_records, read_expected_record
from runner.results.record import RunRecord
from runner.results.store import Store

# Records, and a line for each file that cannot be read.
ReadRecords: TypeAlias = tuple[Iterable[RunRecord], Sequence[str]]


def read_expected(catalog: Catalog, names: Sequence[str]) -> ReadRecords:
    """The expected records of the named cases, or of all;
    raises UsageError or CatalogError for a name.
    """
    records: list[RunRecord] = []
    problems: list[str] = []
    if names:
        cases = [(target.bug, target.case.name) for target in select_cases(catalog, names)]
    else:
        bugs, problems = catalog.readable()
        cases = [(bug, case) for bug in bugs for case in bug.cases]
    paths = [path for bug, case in cases for path in expected_paths(bug, case)]
    # A file is read once, where a case is named twice.
    for path in dict.fromkeys(paths):
        try:
            records.append(read_expected_record(path))
        except ResultsError as error:
            problems.append(str(error))
    return records, problems


def read_results(catalog: Catalog, names: Sequence[str], folder: Path) -> ReadRecords:
    """The records of a results folder, of the named cases or all.

    Raises UsageError for a name that neither the folder nor the catalogue has, and for one without
    records.
    """
    folders_by_name = {name: _folders(catalog, name, folder) for name in names}
    records = Store(folder).records(
        part for folders in folders_by_name.values() for part in folders
    )
    paths = [row.path for row in records.rows]
    missing = [name for name, folders in folders_by_name.items() if not _any_in(paths, folders)]
    if (missing or not records) and not records.problems:
        bugs = ", ".join(missing) or "any bug"
        raise UsageError(f"there are no records of {bugs} in {folder}; trainbugs.run makes them")
    return records, records.problems


def _folders(catalog: Catalog, name: str, folder: Path) -> list[str]:
    """The folders of a bug or a case in a results folder,
    which may hold bugs that the catalogue lacks.
    """
    if all(NAME.fullmatch(part) for part in name.split("/")) and (folder / name).is_dir():
        return [name]
    return [target.case.id for target in select_cases(catalog, [name])]


def _any_in(paths: Iterable[str], folders: Sequence[str]) -> bool:
    """Whether a path lies in one of the folders."""
    prefixes = tuple(f"{folder}/" for folder in folders)
    return any(path.startswith(prefixes) for path in paths)


def read_behind_verdict(target: Target, source: Source, folder: Path) -> list[RunRecord]:
    """The expected records of a case, or those behind its last verdict;
    raises UsageError where there are none.

    Raises ResultsError where one cannot be read.
    """
    bug, case = target.bug, target.case
    if source == "expected":
        records, place = expected_records(bug, case.name), "expected records"
    else:
        records = Store(folder).judged_runs(bug.id, case.name)
        place = f"verdict in {folder}"
    if not records:
        raise UsageError(f"{case.id} has no {place}; trainbugs.run({case.id!r}) makes results")
    return records
