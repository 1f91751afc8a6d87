"""The subcommand figures: draws curves, heat maps and maps of versions from records."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from runner.errors import ResultsError, UsageError
from trainbugs import api
from trainbugs.cli.text import unreadable
from trainbugs.cli.types import Commands, add, add_options, options

if TYPE_CHECKING:
    from plots.figures import CaseRuns, Drawn
    from runner.bugs.model import Bug
    from runner.results.store import Store


def add_commands(to: Commands) -> None:
    """Add figures."""
    examples = ["figures", "figures SO-60335387 --from results --format pdf"]
    parser = add(
        to, "figures", figures_command, "draw the figures of bugs from their records", examples
    )
    parser.add_argument("bugs", nargs="*", metavar="BUG", help="default: all")
    parser.add_argument(
        "--from",
        dest="source",
        choices=("expected", "results"),
        default="expected",
        help="whose records",
    )
    parser.add_argument(
        "--format", choices=("png", "pdf", "svg"), default="png", help="default: png"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("figures"), metavar="DIR", help="default: ./figures"
    )
    add_options(parser, "results")


def figures_command(arguments: Namespace) -> int:
    """Draw the figures of bugs, and print the names of their files; status 2 where some records cannot be read."""
    from plots.figures import draw_maps
    from runner.results.store import Store

    catalog = api.load()
    bugs = [catalog.bug(name) for name in arguments.bugs or catalog.ids()]
    problems: list[str] = []
    if arguments.source == "expected":
        runs = of_expected(bugs)
    else:
        store = Store(options(arguments).results)
        for bug in bugs:
            store.check_owner(catalog, bug)
        runs, problems = _of_verdicts(bugs, store)
    arguments.status = 2 if problems else 0
    if not runs and not problems:
        raise UsageError(
            f"there are no {arguments.source} records of {', '.join(bug.id for bug in bugs)} to draw"
        )
    draw(runs, arguments.out, arguments.format)
    for path in (
        draw_maps(bugs, arguments.out, arguments.format, catalog.root)
        if arguments.source == "expected"
        else ()
    ):
        print(f"figure: {path}")
    print(unreadable(problems), end="", file=sys.stderr)
    return int(arguments.status)


def of_expected(bugs: "Sequence[Bug]") -> "list[CaseRuns]":
    """The expected runs of every case that has some."""
    from plots.figures import CaseRuns
    from runner.results.expected import expected_runs

    return [
        CaseRuns(bug, bug.cases[case], tuple(runs))
        for bug in bugs
        for case, runs in expected_runs(bug).items()
    ]


def draw(runs: "Sequence[CaseRuns]", out: Path, kind: str, to: TextIO | None = None) -> None:
    """Draw figures and print where they are, on standard output by default.

    One that cannot be drawn is reported, but is no error: the records exist.
    """
    from plots import figures

    show_drawn(figures.draw(runs, out, kind), to)


def show_drawn(drawn: "Drawn", to: TextIO | None) -> None:
    """Print which figures cannot be drawn, and where the others are."""
    for problem in drawn.problems:
        print(f"trainbugs: {problem}", file=sys.stderr)
    by_folder: dict[Path, list[Path]] = {}
    for path in drawn.paths:
        by_folder.setdefault(path.parent, []).append(path)
    for folder, paths in by_folder.items():
        text = (
            f"figures: {len(paths)} files in {folder}" if len(paths) > 1 else f"figure: {paths[0]}"
        )
        print(text, file=to)


def _of_verdicts(bugs: "Sequence[Bug]", store: "Store") -> "tuple[list[CaseRuns], list[str]]":
    """The runs behind the verdicts in a results folder, and a line for each case whose runs cannot be read."""
    from plots.figures import CaseRuns

    judged, problems = [], []
    for bug in bugs:
        for case in bug.cases.values():
            try:
                runs = store.judged_runs(bug.id, case.name)
            except ResultsError as error:
                problems.append(str(error))
            else:
                judged += [CaseRuns(bug, case, tuple(runs))] if runs else []
    return judged, problems
