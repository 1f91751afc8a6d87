"""Records by their source: those that are committed with the catalogue,
or those of a results folder.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias, get_args

from evaluation.catalog import detectors as catalog_detectors
from evaluation.catalog.declared import declared_programs
from evaluation.model import CONTROL
from evaluation.reading import subsets
from evaluation.reading.load import (
    committed_folders,
    load_committed,
    load_results,
    load_submitted,
)
from evaluation.reading.rewritten import committed_with_rewritten, results_with_rewritten
from evaluation.reading.seeds import committed_with_seeds
from evaluation.records import Records
from evaluation.store.committed import SEEDS
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.bugs.config import REWRITTEN
from runner.errors import UsageError
from runner.files.schema_errors import near
from runner.session.selection import labelled

Source: TypeAlias = Literal["expected", "results"]
ScoreSource: TypeAlias = Literal["expected", "results", "both", "submissions"]


@dataclass(frozen=True)
class RecordSelection:
    """Which records of evaluations to read: those of `detectors` (all,
    where there are none) in a source.

    Only the bugs `bugs` count (BUG or BUG/CASE; default: all) that have one of the labels in
    `label`; with `common`, only programs that every one of the detectors was shown; with
    `isolated`, only records whose programs ran in namespaces of their own.

    With `beside` the committed records of these detectors come beside one's own of `detectors`, and
    `common` holds.
    """

    detectors: Sequence[str]
    source: ScoreSource
    folder: Path
    bugs: Sequence[str] = ()
    label: Sequence[str] = ()
    common: bool = False
    beside: Sequence[str] = ()
    isolated: bool = False


def check_source(source: str, folder: Path, sources: Sequence[str] = get_args(Source)) -> None:
    """Raise UsageError for a source that does not exist, or a results folder that does not."""
    if source not in sources:
        further = [name for name in sources if name not in get_args(Source)]
        more = "".join(f", or {name!r}" for name in further)
        raise UsageError(
            f"source is {source!r}, expected 'expected' (the committed records) or 'results' "
            f"(your own){more}; names come after it"
        )
    if source in ("results", "both") and not folder.is_dir():
        raise UsageError(
            f"there is no folder {str(folder)!r}; expected a results folder, which "
            "`trainbugs run` and `trainbugs evaluate` make, and trainbugs.run in Python"
        )


def select_cases(catalog: Catalog, names: Iterable[str]) -> list[Target]:
    """The cases named by BUG or BUG/CASE, or by a bug directory;
    raises UsageError or CatalogError.
    """
    targets = catalog.select(names)
    for target in targets:
        if len(target.variants) == 1:
            raise UsageError(
                f"{target.case.id}/{target.variants[0]} names a variant, expected BUG or BUG/CASE"
            )
    return targets


def read_records(catalog: Catalog, selection: RecordSelection) -> Records:
    """The records of a selection.

    Raises UsageError for a detector or a bug that has none there, ResultsError or CatalogError for
    a file that cannot be read; files of a results folder are in the `problems` instead.
    """
    check_source(selection.source, selection.folder, get_args(ScoreSource))
    if selection.beside:
        records = _read_beside(catalog, selection)
    else:
        records = _load(catalog, selection)
        _refuse_lacking(catalog, selection, records)
    records = _in_scores(records, catalog, set(selection.bugs))
    if selection.bugs or selection.label:
        records = subsets.select_bugs(records, _select_names(catalog, selection, records))
    if selection.isolated:
        records = subsets.select_isolated(records)
        if not records.checks:
            raise UsageError(
                f"no record of {selection.source} was made in namespaces: evaluate anew on a "
                "machine that gives them (docs/isolation.md), or leave out --isolated"
            )
    if selection.common or selection.beside:
        return subsets.select_common(records)
    return records


def read_rewritten(catalog: Catalog, selection: RecordSelection) -> Records | None:
    """The records of the selected detectors with those of rewritten programs;
    None where there are none of these.

    With the source "both" they are one's own. Raises ResultsError for a committed file that cannot
    be read.
    """
    if selection.source in ("results", "both"):
        records = results_with_rewritten(selection.folder, selection.detectors)
    else:
        with_submissions = selection.source == "submissions"
        folders = committed_folders(catalog.root, REWRITTEN, with_submissions)
        records = committed_with_rewritten(folders, selection.detectors)
    return records and _in_scores(records, catalog)


def read_seeds(catalog: Catalog, selection: RecordSelection, records: Records) -> Records | None:
    """The records of a selection with those by further seeds; None where there are none.

    One's own are among `records`, which are those of the selection; with the source "both" only
    one's own count. Raises ResultsError for a committed file that cannot be read.
    """
    if selection.source in ("results", "both"):
        return records
    folders = committed_folders(catalog.root, SEEDS, selection.source == "submissions")
    by_seeds = committed_with_seeds(folders, selection.detectors)
    return by_seeds and _in_scores(by_seeds, catalog)


def _in_scores(
    records: Records, catalog: Catalog, named: AbstractSet[str] = frozenset()
) -> Records:
    """The records that scores count: of present programs of bugs that count, or are `named`."""
    counted = subsets.select_counted(records, declared_programs(catalog), named)
    return subsets.select_current(counted, catalog)


def _read_beside(catalog: Catalog, selection: RecordSelection) -> Records:
    """One's own records, with the committed ones of the detectors in `beside`."""
    if selection.source != "results":
        raise UsageError(
            "detectors beside your own come with the records of 'results', "
            f"not of {selection.source!r}"
        )
    folder = selection.folder
    own_records = read_records(catalog, RecordSelection(selection.detectors, "results", folder))
    committed = read_records(catalog, RecordSelection(selection.beside, "expected", folder))
    return subsets.own_before_committed(own_records, committed)


def _load(catalog: Catalog, selection: RecordSelection) -> Records:
    """The records of the detectors in the source, of all programs."""
    root, detectors = catalog.root, selection.detectors
    own_folder = selection.folder / "detectors"
    if selection.source == "expected":
        return load_committed(root, detectors)
    if selection.source == "results":
        return load_results(own_folder, detectors)
    if selection.source == "submissions":
        submitted = load_submitted(root, detectors)
        return subsets.own_before_committed(submitted, load_committed(root, detectors))
    own_records = load_results(own_folder, detectors)
    return subsets.own_before_committed(own_records, load_committed(root, detectors))


def _refuse_lacking(catalog: Catalog, selection: RecordSelection, records: Records) -> None:
    """Raise UsageError for detectors without records, with what may be meant,
    or where there are no records at all.
    """
    checked = {check.detector for check in records.checks}
    missing = [name for name in selection.detectors if name not in checked]
    if checked and not missing:
        return
    own_folder = str(selection.folder / "detectors")
    every_record = _load(catalog, replace(selection, detectors=()))
    recorded = sorted({check.detector for check in every_record.checks})
    names = ", ".join(name + near(name, recorded) for name in missing)
    advice = "`trainbugs evaluate` makes them"
    if records.problems:
        advice = records.problems[0]
    elif selection.source == "expected" and _has_own(catalog, selection, missing):
        names = ", ".join(missing)
        advice = f"add `--from results`, without --beside: {own_folder} holds some"
    elif missing and selection.source != "results" and _are_catalogued(catalog, missing):
        _refuse_unrecorded(missing, own_folder if selection.source == "both" else None)
    elif recorded:
        advice = f"there are those of {', '.join(recorded)}"
    place = _describe_place(selection.source, own_folder)
    raise UsageError(f"there are no checks of {names or 'any detector'} in {place}; {advice}")


def _describe_place(source: ScoreSource, own_folder: str) -> str:
    committed = "the committed records"
    places: dict[ScoreSource, str] = {
        "expected": committed,
        "results": own_folder,
        "submissions": f"submissions and {committed}",
        "both": f"{own_folder} and {committed}",
    }
    return places[source]


def _has_own(catalog: Catalog, selection: RecordSelection, detectors: Sequence[str]) -> bool:
    """Whether the results folder has checks of these detectors."""
    records = _load(catalog, replace(selection, detectors=detectors, source="results"))
    return bool(records.checks)


def _are_catalogued(catalog: Catalog, detectors: Sequence[str]) -> bool:
    return set(detectors) <= set(catalog_detectors.names(catalog.root))


def _refuse_unrecorded(detectors: Sequence[str], own_folder: str | None) -> NoReturn:
    """Raise UsageError for detectors of the catalogue that nobody has evaluated so far."""
    verb = "has" if len(detectors) == 1 else "have"
    nor = f", and there are none in {own_folder}" if own_folder else ""
    raise UsageError(
        f"{', '.join(detectors)} {verb} no committed records yet{nor}; "
        f"`trainbugs evaluate --detector {' '.join(detectors)}` makes some of your own"
    )


def _select_names(catalog: Catalog, selection: RecordSelection, records: Records) -> set[str]:
    """The bugs and cases (BUG, BUG/CASE) that are named or have a label;
    records may be of bugs no catalogue has.
    """
    recorded: set[str] = set()
    for check in records.checks:
        if check.kind != CONTROL:
            recorded |= {check.bug, f"{check.bug}/{check.case}"}
    names = selection.bugs
    if selection.label:
        names = labelled(catalog, selection.bugs or catalog.ids(), selection.label)
    ids_by_name: dict[str, set[str]] = {}
    for name in names:
        if name in recorded:
            ids_by_name[name] = {name}
        else:
            targets = select_cases(catalog, [name])
            ids_by_name[name] = {target.case.id for target in targets}
    missing = [
        name for name in selection.bugs if name in ids_by_name and not ids_by_name[name] & recorded
    ]
    if missing or not any(ids & recorded for ids in ids_by_name.values()):
        raise UsageError(
            f"there are no checks on {', '.join(missing) or ' or '.join(selection.label)} "
            "by these detectors"
        )
    return set[str]().union(*ids_by_name.values())
