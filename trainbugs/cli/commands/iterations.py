"""The subcommand iterations: counts them, and says from which one on the twins differ."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.documents import print_json
from trainbugs.cli.exits import INVALID, SUCCESS, ExitStatus
from trainbugs.cli.parser import (
    Help,
    Subparsers,
    add_command,
    add_json,
    add_quiet,
    add_session_options,
)
from trainbugs.cli.terminal import show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.iterations.counting import Iterations

HELP = Help(
    "count the iterations of a bug, and say after which one its two programs differ",
    ["iterations SO-60335387/digits", "iterations my/own/bug --json"],
)
SESSION_OPTIONS = ("device", "python", "data", "jobs", "trust_environments", "results")
HEADING = ["CASE", "SEED", "BUGGY", "FIXED", "DIFFER AFTER", "TRIGGER", "WHY NOT"]


@dataclass(frozen=True)
class IterationsOptions:
    """The options of `trainbugs iterations`."""

    bugs: tuple[str, ...]
    session: Options
    json: bool
    quiet: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add iterations."""
    parser = add_command(
        subparsers, "iterations", count_iterations, IterationsOptions, HELP, unfinished=INVALID
    )
    parser.add_argument(
        "bugs", nargs="+", metavar="BUG[/CASE]", help="what to count; also a bug directory"
    )
    seeds = "numbers with commas between them; default: the first one of each case"
    add_session_options(parser, *SESSION_OPTIONS, seeds=seeds)
    add_json(parser)
    add_quiet(parser)


def count_iterations(options: IterationsOptions) -> ExitStatus:
    """Print the iterations of each case; INVALID where some could not be counted."""
    from evaluation.iterations.counting import count
    from runner.progress.lines import on_stderr
    from runner.session.session import Session

    session = Session(api.load(), options.session, on_stderr(options.quiet))
    rows = count(options.bugs, session)
    if options.json:
        print_json([asdict(row) for row in rows])
    else:
        show_table(_shown(rows))
    return INVALID if any(row.problem for row in rows) else SUCCESS


def _shown(rows: "Sequence[Iterations]") -> list[list[str]]:
    with_problems = any(row.problem for row in rows)
    table = [HEADING if with_problems else HEADING[:-1]]
    for row in rows:
        cells = [row.case, str(row.seed), *_counts(row), str(row.trigger)]
        table.append([*cells, row.problem or ""] if with_problems else cells)
    return table


def _counts(row: "Iterations") -> list[str]:
    if row.problem:
        return ["-", "-", "-"]
    differ = "never" if row.differ_from is None else str(row.differ_from)
    return [str(row.buggy), str(row.fixed), differ]
