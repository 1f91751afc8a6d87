"""Records by their source: those that are committed with the catalogue, or those of a results folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from runner.bugs.catalog import NAME, Catalog
from runner.bugs.model import Target
from runner.errors import ResultsError, UsageError
from runner.files.structs import near
from runner.results.expected import expected_paths, expected_records
from runner.results.record import RunRecord, read_record
from runner.results.store import Store

if TYPE_CHECKING:
    from evaluation.store import Evaluated

Source: TypeAlias = Literal["expected", "results"]
# What was read, and a line for each file that cannot be read.
Read: TypeAlias = tuple[Iterable[RunRecord], Sequence[str]]


def check_source(source: str, folder: Path) -> None:
    """Raise UsageError for a source that does not exist, or a results folder that does not."""
    if source not in get_args(Source):
        raise UsageError(
            f"source is {source!r}, expected 'expected' (the committed records) or 'results' (your own); "
            "names come after it"
        )
    if source == "results" and not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r}; expected a results folder, which trainbugs.run makes")


def cases(catalog: Catalog, names: Iterable[str]) -> list[Target]:
    """The cases named by BUG or BUG/CASE, or by a bug directory; raises UsageError or CatalogError."""
    targets = catalog.select(names)
    for target in targets:
        if len(target.variants) == 1:
            raise UsageError(f"{target.case.id}/{target.variants[0]} names a variant, expected BUG or BUG/CASE")
    return targets


def expected(catalog: Catalog, names: Sequence[str]) -> Read:
    """The expected records of the named cases, or of all; raises UsageError or CatalogError for a name."""
    bugs, problems = catalog.readable() if not names else ([], [])
    chosen = [(bug, case) for bug in bugs for case in bug.cases]
    chosen += [(target.bug, target.case.name) for target in cases(catalog, names)]
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
    lacking = [name for name, parts in inner.items() if not any(_lies_in(row.path, parts) for row in found.rows)]
    if (lacking or not found) and not found.problems:
        raise UsageError(
            f"there are no records of {', '.join(lacking) or 'any bug'} in {folder}; trainbugs.run makes them"
        )
    return found, found.problems


def _folders(catalog: Catalog, name: str, folder: Path) -> list[str]:
    """The folders of a bug or a case in a results folder, which may hold bugs that the catalogue lacks."""
    if all(NAME.fullmatch(part) for part in name.split("/")) and (folder / name).is_dir():
        return [name]
    return [target.case.id for target in cases(catalog, [name])]


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def behind_verdict(target: Target, source: Source, folder: Path) -> list[RunRecord]:
    """The expected records of a case, or those behind its last verdict; raises UsageError where there are none.

    Raises ResultsError where one cannot be read.
    """
    if source == "expected":
        records, where = expected_records(target.bug, target.case.name), "expected records"
    else:
        records, where = Store(folder).judged_runs(target.bug.id, target.case.name), f"verdict in {folder}"
    if not records:
        raise UsageError(f"{target.case.id} has no {where}; trainbugs.run({target.case.id!r}) makes results")
    return records


def evaluated(root: Path, detectors: Sequence[str], source: Source, folder: Path) -> "Evaluated":
    """The records of the named detectors, or of all.

    Raises UsageError for a detector that has none there, ResultsError or CatalogError for a file that cannot be read.
    """
    from evaluation.store import Evaluations, ExpectedEvaluations

    check_source(source, folder)
    own, committed = Evaluations(folder / "detectors"), ExpectedEvaluations(root / "detectors" / "expected")
    store = committed if source == "expected" else own
    read = store.read(detectors)
    checked = {record.detector for record in read.checks}
    lacking = [name for name in detectors if name not in checked]
    if lacking or not checked:
        known = sorted({record.detector for record in store.read().checks})
        text = f"there are no checks of {', '.join(lacking) or 'any detector'} in {store.root}"
        hint = near(lacking[0], known) if lacking else ""
        raise UsageError(f"{text}{hint}; there are those of {', '.join(known) or 'none'}; see `trainbugs evaluate`")
    return read
