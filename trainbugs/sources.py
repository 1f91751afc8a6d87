"""Records by their source: those that are committed with the catalogue, or those of a results folder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias, get_args

from evaluation.model import CONTROL
from runner.bugs.catalog import NAME, Catalog
from runner.bugs.model import Target
from runner.errors import ResultsError, UsageError
from runner.files.structs import near
from runner.results.expected import expected_paths, expected_records
from runner.results.record import RunRecord, read_record
from runner.results.store import Store
from runner.session.selection import labelled

if TYPE_CHECKING:
    from evaluation.store import Evaluated

Source: TypeAlias = Literal["expected", "results"]
ScoreSource: TypeAlias = Literal["expected", "results", "both", "submissions"]
# What was read, and a line for each file that cannot be read.
Read: TypeAlias = tuple[Iterable[RunRecord], Sequence[str]]


def check_source(source: str, folder: Path, known: Sequence[str] = get_args(Source)) -> None:
    """Raise UsageError for a source that does not exist, or a results folder that does not."""
    if source not in known:
        more = "".join(f", or {other!r}" for other in known if other not in get_args(Source))
        raise UsageError(
            f"source is {source!r}, expected 'expected' (the committed records) or 'results' (your own){more}; "
            "names come after it"
        )
    if source in ("results", "both") and not folder.is_dir():
        raise UsageError(
            f"there is no folder {str(folder)!r}; expected a results folder, which `trainbugs run` and `trainbugs "
            "evaluate` make, and trainbugs.run in Python"
        )


def cases(catalog: Catalog, names: Iterable[str]) -> list[Target]:
    """The cases named by BUG or BUG/CASE, or by a bug directory; raises UsageError or CatalogError."""
    targets = catalog.select(names)
    for target in targets:
        if len(target.variants) == 1:
            raise UsageError(
                f"{target.case.id}/{target.variants[0]} names a variant, expected BUG or BUG/CASE"
            )
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
        records, where = (
            Store(folder).judged_runs(target.bug.id, target.case.name),
            f"verdict in {folder}",
        )
    if not records:
        raise UsageError(
            f"{target.case.id} has no {where}; trainbugs.run({target.case.id!r}) makes results"
        )
    return records


@dataclass(frozen=True)
class Part:
    """Which records of evaluations to read: those of `detectors` (all, where there are none) in a source.

    Of bugs only those of `bugs` (BUG or BUG/CASE; all, where there are none) that have one of the labels in `label`;
    with `common`, only of programs that every one of the detectors was shown; with `isolated`, only records whose
    programs ran in namespaces of their own.

    With `beside` the committed records of these detectors come beside one's own of `detectors`, and `common` holds.
    """

    detectors: Sequence[str]
    source: ScoreSource
    folder: Path
    bugs: Sequence[str] = ()
    label: Sequence[str] = ()
    common: bool = False
    beside: Sequence[str] = ()
    isolated: bool = False


def evaluated(catalog: Catalog, part: Part) -> "Evaluated":
    """The records of a part of the evaluations.

    Raises UsageError for a detector or a bug that has none there, ResultsError or CatalogError for a file that cannot
    be read; files of a results folder are in the `problems` instead.
    """
    from evaluation.scoring import subsets

    check_source(part.source, part.folder, get_args(ScoreSource))
    if part.beside:
        if part.source != "results":
            raise UsageError(
                f"detectors beside your own come with the records of 'results', not of {part.source!r}"
            )
        parts = (
            Part(part.detectors, "results", part.folder),
            Part(part.beside, "expected", part.folder),
        )
        read = subsets.beside(*(evaluated(catalog, each) for each in parts))
    else:
        read = _evaluated(catalog, part)
        _refuse_lacking(catalog, part, read)
    if part.bugs or part.label:
        read = subsets.of_bugs(read, _wanted(catalog, part, read))
    if part.isolated:
        read = subsets.isolated(read)
        if not read.checks:
            raise UsageError(
                f"no record of {part.source} was made in namespaces: evaluate anew on a machine that gives "
                "them (docs/isolation.md), or leave out --isolated"
            )
    return subsets.common(read) if part.common or part.beside else read


def beside_rewritten(catalog: Catalog, part: Part) -> "Evaluated | None":
    """The records of the detectors of a part with those of rewritten programs; None where there are none of these.

    Of "both" they are one's own. Raises ResultsError for a committed file that cannot be read.
    """
    from evaluation.catalog import submissions
    from evaluation.scoring import beside

    if part.source in ("results", "both"):
        return beside.of_results(part.folder, part.detectors)
    submitted = submissions.names(catalog.root) if part.source == "submissions" else ()
    folders = [catalog.root / submissions.FOLDER / name for name in submitted]
    return beside.of_expected([*folders, catalog.root / "detectors" / "expected"], part.detectors)


def by_further_seeds(catalog: Catalog, part: Part, read: "Evaluated") -> "Evaluated | None":
    """The records of a part, which is read, with those by further seeds; None where there are none.

    One's own are among those that are read; of "both" only those of one's own count. Raises ResultsError for a
    committed file that cannot be read.
    """
    from evaluation.catalog import submissions
    from evaluation.scoring import beside

    if part.source in ("results", "both"):
        return read
    submitted = submissions.names(catalog.root) if part.source == "submissions" else ()
    folders = [catalog.root / submissions.FOLDER / name for name in submitted]
    return beside.with_further([*folders, catalog.root / "detectors" / "expected"], part.detectors)


def _evaluated(catalog: Catalog, part: Part) -> "Evaluated":
    from evaluation.scoring.subsets import beside
    from evaluation.store import Evaluations, ExpectedEvaluations

    own = Evaluations(part.folder / "detectors")
    committed = ExpectedEvaluations(catalog.root / "detectors" / "expected")
    if part.source == "expected":
        return committed.read(part.detectors)
    if part.source == "submissions":
        return beside(_submitted(catalog.root, part.detectors), committed.read(part.detectors))
    read = own.read(part.detectors)
    return read if part.source == "results" else beside(read, committed.read(part.detectors))


def _submitted(root: Path, detectors: Sequence[str]) -> "Evaluated":
    """The records of submitted detectors, all or those named."""
    from evaluation.catalog import submissions
    from evaluation.store import Evaluated, ExpectedEvaluations

    names = [name for name in submissions.names(root) if name in detectors or not detectors]
    parts = [ExpectedEvaluations(root / submissions.FOLDER / name).read() for name in names]
    return Evaluated(
        [check for part in parts for check in part.checks],
        [timing for part in parts for timing in part.overheads],
        {name: rules for part in parts for name, rules in part.rules.items()},
    )


def _refuse_lacking(catalog: Catalog, part: Part, read: "Evaluated") -> None:
    """Raise UsageError for detectors without records, with what may be meant, or where there are no records at all."""
    from evaluation.catalog import detectors

    checked = {record.detector for record in read.checks}
    lacking = [name for name in part.detectors if name not in checked]
    if checked and not lacking:
        return
    own, committed = str(part.folder / "detectors"), "the committed records"
    where = {
        "expected": committed,
        "results": own,
        "submissions": f"submissions and {committed}",
    }.get(part.source, f"{own} and {committed}")
    known = sorted(
        {record.detector for record in _evaluated(catalog, replace(part, detectors=())).checks}
    )
    names, advice = (
        ", ".join(name + near(name, known) for name in lacking),
        "`trainbugs evaluate` makes them",
    )
    if read.problems:
        advice = read.problems[0]
    elif (
        part.source == "expected"
        and _evaluated(catalog, replace(part, detectors=lacking, source="results")).checks
    ):
        names, advice = ", ".join(lacking), f"add `--from results`: {own} holds some"
    elif (
        lacking and part.source != "results" and set(lacking) <= set(detectors.names(catalog.root))
    ):
        _refuse_unrecorded(lacking, own if part.source == "both" else None)
    elif known:
        advice = f"there are those of {', '.join(known)}"
    raise UsageError(f"there are no checks of {names or 'any detector'} in {where}; {advice}")


def _refuse_unrecorded(detectors: Sequence[str], own: str | None) -> NoReturn:
    """Raise UsageError for detectors of the catalogue that nobody has evaluated so far, in `own` neither."""
    verb, nor = (
        "has" if len(detectors) == 1 else "have",
        f", and there are none in {own}" if own else "",
    )
    raise UsageError(
        f"{', '.join(detectors)} {verb} no committed records yet{nor}; "
        f"`trainbugs evaluate --detector {' '.join(detectors)}` makes some of your own"
    )


def _wanted(catalog: Catalog, part: Part, read: "Evaluated") -> set[str]:
    """The bugs and cases (BUG, BUG/CASE) that are named or have a label; records may be of bugs no catalogue has."""
    known = {
        name
        for each in read.checks
        if each.kind != CONTROL
        for name in (each.bug, f"{each.bug}/{each.case}")
    }
    named = (
        part.bugs if not part.label else labelled(catalog, part.bugs or catalog.ids(), part.label)
    )
    wanted = {
        name: {name} & known or {target.case.id for target in cases(catalog, [name])}
        for name in named
    }
    lacking = [name for name in part.bugs if name in wanted and not wanted[name] & known]
    if lacking or not any(ids & known for ids in wanted.values()):
        raise UsageError(
            f"there are no checks on {', '.join(lacking) or ' or '.join(part.label)} by these detectors"
        )
    return {name for ids in wanted.values() for name in ids}
