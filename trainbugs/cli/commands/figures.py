"""The subcommand figures: draws curves, heat maps and maps of versions from records."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import ResultsError, UsageError
from trainbugs import api
from trainbugs.cli.drawing import draw_runs, print_drawn
from trainbugs.cli.exits import ExitStatus, invalid_if, reporting
from trainbugs.cli.parser import Help, Subparsers, add_command, add_session_options
from trainbugs.cli.text import unreadable

if TYPE_CHECKING:
    from plots.figures import CaseRuns
    from runner.bugs.bug import Bug
    from runner.bugs.catalog import Catalog
    from runner.results.store import Store

HELP = Help(
    "draw the figures of bugs from their records",
    [
        "figures",
        "figures SO-60335387 --from results --format pdf",
        "figures --paper --out paper",
    ],
)


@dataclass(frozen=True)
class FiguresOptions:
    """The options of `trainbugs figures`."""

    bugs: tuple[str, ...]
    source: str
    format: str | None
    paper: bool
    out: Path
    results: Path = Path("results")


def add_arguments(subparsers: Subparsers) -> None:
    """Add figures."""
    parser = add_command(subparsers, "figures", draw_figures, FiguresOptions, HELP)
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("expected", "results"),
        default="expected",
        help="the expected records, or your results; default: expected",
    )
    parser.add_argument(
        "--format", choices=("png", "pdf", "svg"), help="format of the figures; default: png"
    )
    parser.add_argument(
        "--paper",
        action="store_true",
        help=(
            "PDFs for a paper, 3.5 and 7 inches wide, without titles; if you name no BUG, also "
            "figures of the catalogue and of scores; `page`, which is wider, is left out"
        ),
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for figures; default: ./figures",
    )
    add_session_options(parser, "results")


def draw_figures(options: FiguresOptions) -> ExitStatus:
    """Draw the figures of bugs, and print the names of their files;
    INVALID where some records cannot be read.
    """
    if options.paper and options.format:
        raise UsageError("--paper draws PDFs: leave out --format")
    catalog = api.load()
    bugs = [catalog.bug(name) for name in options.bugs or catalog.ids()]
    runs, problems = _read(bugs, catalog, options)
    if not runs and not problems:
        names = ", ".join(bug.id for bug in bugs)
        raise UsageError(f"there are no {options.source} records of {names} to draw")
    status = invalid_if(problems)
    with reporting(status):
        if options.paper:
            _draw_paper(runs, catalog, options)
        else:
            _draw_all(runs, bugs, catalog, options)
        print(unreadable(problems), end="", file=sys.stderr)
    return status


def _draw_all(
    runs: "Sequence[CaseRuns]",
    bugs: "Sequence[Bug]",
    catalog: "Catalog",
    options: FiguresOptions,
) -> None:
    """Draw the curves, and the maps of versions that are committed."""
    from plots.figures import draw_maps

    kind = options.format or "png"
    draw_runs(runs, options.out, kind)
    if options.source == "expected":
        for path in draw_maps(bugs, options.out, kind, catalog.root):
            print(f"figure: {path}")


def _draw_paper(runs: "Sequence[CaseRuns]", catalog: "Catalog", options: FiguresOptions) -> None:
    """Draw the curves for a paper; with all bugs also the catalogue and the scores."""
    from plots.paper import draw_paper

    print_drawn(draw_paper(runs, options.out), None)
    if options.bugs or options.source != "expected":
        return
    for path in (_draw_catalogue(catalog, options.out), *_draw_scores(catalog, options.out)):
        print(f"figure: {path}")


def _draw_catalogue(catalog: "Catalog", out: Path) -> Path:
    from plots.taxonomy import draw_taxonomy
    from runner.bugs.catalogue_counts import count

    bugs, _ = catalog.readable()
    return draw_taxonomy(count(bugs), out / "taxonomy.pdf", paper=True)


def _draw_scores(catalog: "Catalog", out: Path) -> "Sequence[Path]":
    from evaluation.reading.sources import RecordSelection, read_records
    from evaluation.scoring.tables import ScoreTables
    from plots.detectors import PAPER_NAMES, draw
    from trainbugs.descriptions import locations

    tables = ScoreTables(read_records(catalog, RecordSelection((), "expected", Path())), catalog)
    folder = out / "detectors"
    return draw(
        tables.outcomes, tables.scores, folder, "pdf", locations(catalog), names=PAPER_NAMES
    )


def _read(
    bugs: "Sequence[Bug]", catalog: "Catalog", options: FiguresOptions
) -> "tuple[list[CaseRuns], list[str]]":
    """The runs to draw, and a line for each case whose runs cannot be read."""
    from runner.results.store import Store

    if options.source == "expected":
        return _expected_runs(bugs), []
    if not options.results.is_dir():
        raise UsageError(f"{options.results}: no such folder; name yours by --results")
    store = Store(options.results)
    for bug in bugs:
        store.check_owner(catalog, bug)
    return _judged_runs(bugs, store)


def _expected_runs(bugs: "Sequence[Bug]") -> "list[CaseRuns]":
    """The expected runs of every case that has some."""
    from plots.figures import CaseRuns
    from runner.results.expected import expected_runs

    return [
        CaseRuns(bug, bug.cases[case], tuple(runs))
        for bug in bugs
        for case, runs in expected_runs(bug).items()
    ]


def _judged_runs(bugs: "Sequence[Bug]", store: "Store") -> "tuple[list[CaseRuns], list[str]]":
    """The runs behind the verdicts in a results folder,
    and a line for each case whose runs cannot be read.
    """
    from plots.figures import CaseRuns

    judged, problems = [], []
    for bug in bugs:
        for case in bug.cases.values():
            try:
                runs = store.judged_runs(bug.id, case.name)
            except ResultsError as error:
                problems.append(str(error))
                continue
            if runs:
                judged.append(CaseRuns(bug, case, tuple(runs)))
    return judged, problems
