"""The subcommand results: shows run records as a table."""

import gc
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from runner.files.structs import near
from trainbugs import api
from trainbugs.cli.documents import of_runs, print_rows
from trainbugs.cli.terminal import show_table
from trainbugs.cli.text import run_rows, unreadable
from trainbugs.cli.types import Commands, add, add_json, add_options, options

if TYPE_CHECKING:
    from runner.results.folder_index import IndexRow
    from runner.results.store import Store


def add_commands(to: Commands) -> None:
    """Add results."""
    examples = ["results", "results --csv all.csv SO-60335387"]
    parser = add(to, "results", results_command, "show run records as a table", examples)
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument(
        "--csv",
        metavar="FILE",
        help="write every record as a row of a CSV file; - for standard output",
    )
    add_options(parser, "results")


def results_command(arguments: Namespace) -> int:
    """Print the runs of a results folder, or write their records; status 2 where some cannot be read."""
    # Garbage collection of 100,000 rows, which hold no cycles, would take as long as reading their index.
    gc.disable()
    try:
        return _show(arguments)
    finally:
        gc.enable()


def _show(arguments: Namespace) -> int:
    from runner.results.export import write_csv
    from runner.results.store import Store

    store = Store(options(arguments).results)
    wanted = [_id(name) for name in arguments.bugs]
    records = store.records(wanted)
    if not records.problems:
        _refuse_missing(wanted, records.rows, store)
    arguments.status = 2 if records.problems else 0
    if arguments.csv:
        write_csv(records, arguments.csv)
    elif arguments.json:
        print_rows(of_runs(records))
    elif records:
        show_table(run_rows(records.rows))
    print(unreadable(records.problems), end="", file=sys.stderr)
    return int(arguments.status)


def _id(name: str) -> str:
    """The ID of the bug in a directory; any other name as it is, since records outlive the bugs of a catalogue."""
    return api.load().bug(name).id if (Path(name) / "config.json").exists() else name


def _refuse_missing(bugs: Sequence[str], rows: "Sequence[IndexRow]", store: "Store") -> None:
    """Raise UsageError for bugs that have no records there, each with what may be meant, or where there are none."""
    present = {f"{row.bug}/{row.case}" for row in rows} | {row.bug for row in rows}
    missing = [f"{name}{near(name, store.bugs())}" for name in bugs if name not in present]
    if missing or not rows:
        raise UsageError(
            f"there are no records of {', '.join(missing) or 'any bug'} in {store.root}"
        )
