"""The Python interface, for notebooks: bugs, records, scores and figures, and runs;
docs/python.md shows it.

>>> import trainbugs
>>> trainbugs.bugs()  # one row a case
>>> trainbugs.plot("PyTorch-115607/simple")
>>> trainbugs.run("PyTorch-115607/simple")
[Outcome('PyTorch-115607/simple', REPRODUCED, drift 0, 2 runs)]
>>> trainbugs.records("results", "PyTorch-115607")  # one row a record of a script
"""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from runner.bugs.catalog import Catalog, default_root
from runner.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from evaluation.reading.sources import ScoreSource, Source
    from evaluation.scoring.against import Against
    from evaluation.scoring.tables import ScoreTables
    from plots.detectors import DetectorFigure
    from runner.session.options import OptionValues
    from runner.verdicts.outcome import Outcome

__all__ = [
    "against", "bugs", "comparisons", "load", "outcomes", "plot", "plot_against", "plot_detectors",
    "records", "run", "scores",
]  # fmt: skip


def load(root: Path | str | None = None) -> Catalog:
    """The catalogue: iterate over its bugs, or ask for `.ids()` and `.bug(ID)`.

    `root` holds the folders bugs, environments and detectors; by default it is that of this
    package. Raises UsageError where there is no folder bugs.
    """
    if root is None:
        return Catalog(default_root())
    if not (Path(root) / "bugs").is_dir():
        raise UsageError(f"{str(root)!r} holds no folder bugs; expected the root of a catalogue")
    return Catalog(Path(root))


def bugs(root: Path | str | None = None) -> "pd.DataFrame":
    """The catalogue as a table, one row a case.

    `seconds` is the time of all expected runs of the case together, NaN where there are none.
    `needs` and `seeds` are texts with commas. `trigger` is the iteration in which the fault first
    acts, `site_file`, `site_line` and `site_api` say where it is. `location`, `cause`, `effect`,
    `stage` and `realism` have the entries of docs/taxonomy.md, or None. A bug that cannot be read
    is left out, with a warning.
    """
    import pandas as pd

    from trainbugs.descriptions import case_dtypes, case_rows

    readable, problems = load(root).readable()
    _warn(problems)
    rows = [row for bug in readable for row in case_rows(bug)]
    table = pd.DataFrame(rows)
    return table.astype(case_dtypes()) if rows else table


def run(
    *names: str, root: Path | str | None = None, **options: "Unpack[OptionValues]"
) -> "list[Outcome]":
    """Run BUG[/CASE[/VARIANT]] …, or all with a `label`, and judge them: one Outcome (verdict,
    records, drift) a case.

    The options are those of `trainbugs run`, by the names of `runner.session.options.Options`:
    `seeds=[0, 1]`, `device="cuda"`, `python="/path/to/python"`. Missing environments are built
    (gigabytes). Raises UsageError if you name neither bugs nor a label, TrainbugsError for an
    unknown bug or option, or an environment that cannot be built.
    """
    from runner.progress.lines import on_stderr
    from runner.session.options import from_values
    from runner.session.selection import to_run
    from runner.session.session import run_targets

    catalog, session = load(root), from_values(options)
    if not names and not session.label:
        raise UsageError("name the bugs to run, like 'PyTorch-115607', or a label")
    progress = on_stderr()
    targets, notes = to_run(catalog, names, session)
    for note in notes:
        progress.note(note)
    return run_targets(catalog, targets, session, progress)


def records(
    source: "Source" = "expected",
    *names: str,
    folder: Path | str = "results",
    root: Path | str | None = None,
) -> "pd.DataFrame":
    """Run records as a table, one row a record of a script: `records("expected", "SO-60335387")`.

    `source` is "expected" (the committed records of the catalogue, less its maps of versions) or
    "results" (those in `folder`); `names` are BUG or BUG/CASE, by default all. The columns are
    those of the run (bug, case, variant, seed, environment, torch, device …), its parameters as
    parameter.NAME, `record` (from 1) and metrics as metric.NAME. A file that cannot be read is left
    out, with a warning. Raises UsageError for an unknown bug, a folder that does not exist, or one
    without records of what is named.
    """
    from evaluation.reading.sources import check_source
    from runner.results.export import frame
    from trainbugs.run_records import read_expected, read_results

    catalog = load(root)
    check_source(source, Path(folder))
    if source == "expected":
        run_records, problems = read_expected(catalog, names)
    else:
        run_records, problems = read_results(catalog, names, Path(folder))
    _warn(problems)
    return frame(run_records)


class SelectionValues(TypedDict, total=False):
    """Which records of evaluations count, as keyword arguments of `scores`,
    `outcomes` and `comparisons`.

    `bugs` (BUG or BUG/CASE) and `label` choose bugs, as of `trainbugs scores`; controls stay. With
    `common` only programs count that all the detectors were shown, with `isolated` only those that
    ran in namespaces. `beside` names detectors whose committed records come beside those of
    `source`, which has to be "results"; `common` holds then. `folder` is the results folder, `root`
    the root of the catalogue.
    """

    bugs: Iterable[str] | str
    label: Iterable[str] | str
    common: bool
    beside: Iterable[str] | str
    isolated: bool
    folder: Path | str
    root: Path | str | None


def scores(
    source: "ScoreSource" = "expected", *detectors: str, **selection: "Unpack[SelectionValues]"
) -> "pd.DataFrame":
    """The scores of detectors, all or those named: one row a detector,
    kind of references and rule, as in scores.csv.

    `source` is "expected" (the committed records of the catalogue), "results" (those in `folder`)
    or "both": those in `folder`, and the committed ones of detectors that have none there;
    "submissions": those of submitted detectors, and the committed ones. `selection` are
    `SelectionValues`. A file of `folder` that cannot be read is left out, with a warning. Raises
    UsageError for a detector or a bug without records there, ResultsError or CatalogError for
    another file that cannot be read.
    """
    tables = _select(source, detectors, **selection)
    _warn(tables.records.problems)
    return tables.scores


def outcomes(
    source: "ScoreSource" = "expected", *detectors: str, **selection: "Unpack[SelectionValues]"
) -> "pd.DataFrame":
    """What is behind `scores`: one row a program and rule of a detector (whether it alarmed,
    and when).

    The columns are those of outcomes.csv; parameters and errors are those of `scores`.
    """
    tables = _select(source, detectors, **selection)
    _warn(tables.records.problems)
    return tables.outcomes


def comparisons(
    source: "ScoreSource" = "expected", *detectors: str, **selection: "Unpack[SelectionValues]"
) -> "pd.DataFrame":
    """Pairs of rows of `scores` on the programs that both met, by McNemar's exact test.

    The columns are those of comparisons.csv; parameters and errors are those of `scores`.
    """
    tables = _select(source, detectors, **selection)
    _warn(tables.records.problems)
    return tables.comparisons


def against(
    *mine: str,
    others: Iterable[str] | str = (),
    source: "ScoreSource | None" = None,
    **selection: "Unpack[SelectionValues]",
) -> "Against":
    """Detectors of yours against others: `.versus` (each pair, with Holm's correction), `.cases`
    (who finds each), `.missed` (others find it, yours do not) and `.found_by_nobody`.

    `others` names the detectors beside yours (default: all that have records). Sources, selection
    and errors are those of `scores`; the source is "both" where there is a results folder. Also
    raises UsageError where yours, or all others, have no records. `trainbugs.plot_against` draws
    it.
    """
    from evaluation.scoring.against import compare_against, refuse_absent

    has_results = Path(selection.get("folder", "results")).is_dir()
    source = source or ("both" if has_results else "expected")
    other_names = _tuple(others)
    detectors = (*mine, *other_names) if other_names else ()
    tables = _select(source, detectors, **selection)
    _warn(tables.records.problems)
    if not mine:
        raise UsageError("name a detector of yours first: trainbugs.against('NAME')")
    refuse_absent(mine, set(tables.outcomes.detector), "folder=")
    return compare_against(tables.outcomes, tables.scores, mine)


def plot_detectors(
    name: "DetectorFigure",
    source: "ScoreSource" = "expected",
    *detectors: str,
    **selection: "Unpack[SelectionValues]",
) -> "Figure":
    """A figure of detectors, as `trainbugs scores` draws it; nothing is written.

    `name` is "matrix" (cases found by family, and false alarms), "page" (every case), "rates"
    (detection against false alarms) or "delays". The other parameters and the errors are those of
    `scores`; also raises UsageError for another name, and where there is nothing to draw.
    """
    from plots.detectors import NAMES, detector_figure
    from trainbugs.descriptions import locations

    if name not in NAMES:
        raise UsageError(f"there is no figure {name!r} of detectors; expected {', '.join(NAMES)}")
    tables = _select(source, detectors, **selection)
    _warn(tables.records.problems)
    scored = tables.scores
    figure = detector_figure(name, tables.outcomes, scored, locations(tables.catalog))
    if figure is None:
        raise UsageError(f"the records have nothing that the figure {name!r} shows")
    return figure


def plot_against(against: "Against") -> "Figure":
    """The figure of a detector against others: the cases that one alone finds. Raises UsageError
    for anything but what `against` returns.
    """
    from evaluation.scoring.against import Against
    from plots.detector_against import against_figure
    from plots.style import column

    if not isinstance(against, Against):
        raise UsageError(
            f"plot_against takes what trainbugs.against returns, not a {type(against).__name__}"
        )
    with column():
        return against_figure(against.versus)


def _select(
    source: "ScoreSource",
    detectors: Sequence[str],
    *,
    bugs: Iterable[str] | str = (),
    label: Iterable[str] | str = (),
    common: bool = False,
    beside: Iterable[str] | str = (),
    isolated: bool = False,
    folder: Path | str = "results",
    root: Path | str | None = None,
) -> "ScoreTables":
    """The tables of the records of a selection."""
    from evaluation.reading.sources import RecordSelection, read_records
    from evaluation.scoring.tables import ScoreTables

    selection = RecordSelection(
        detectors,
        source,
        Path(folder),
        _tuple(bugs),
        _tuple(label),
        common,
        _tuple(beside),
        isolated,
    )
    catalog = load(root)
    return ScoreTables(read_records(catalog, selection), catalog)


def plot(
    case: str,
    source: "Source" = "expected",
    folder: Path | str = "results",
    root: Path | str | None = None,
) -> "Figure":
    """The figure of a case, buggy over fixed, as `trainbugs figures` draws it; nothing is written.

    `case` is BUG/CASE, or BUG where the bug has one case. `source` is "expected" (the committed
    records) or "results" (the runs behind the last verdict in `folder`). A notebook shows the
    figure as the last value of a cell; `.savefig("name.pdf")` keeps it. Raises UsageError for an
    unknown case or one without records, ResultsError for a record that cannot be read, MeasureError
    where no finished run of a variant is there or it cannot be drawn.
    """
    from evaluation.reading.sources import check_source, select_cases
    from plots.figures import CaseRuns, compare
    from trainbugs.run_records import read_behind_verdict

    check_source(source, Path(folder))
    targets = select_cases(load(root), [case])
    if len(targets) != 1:
        ids = ", ".join(target.case.id for target in targets)
        raise UsageError(f"{case} has several cases; name one of {ids}")
    target = targets[0]
    runs = read_behind_verdict(target, source, Path(folder))
    return compare(CaseRuns(target.bug, target.case, tuple(runs)))


def _tuple(names: Iterable[str] | str) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _warn(problems: Iterable[str]) -> None:
    """Warn of files that cannot be read, in the name of the caller of the interface."""
    for problem in problems:
        warnings.warn(problem, stacklevel=3)
