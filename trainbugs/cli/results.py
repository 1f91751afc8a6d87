"""The subcommand results: shows run records as a table."""

import gc
import sys
from argparse import Namespace

from runner.errors import UsageError
from trainbugs.cli.text import columns, runs, unreadable
from trainbugs.cli.types import Commands, add, add_options, options


def add_commands(to: Commands) -> None:
    """Add results."""
    examples = ["results", "results --csv all.csv SO-60335387"]
    parser = add(to, "results", results_command, "show run records as a table", examples)
    parser.add_argument("bugs", nargs="*", metavar="BUG", help="default: all")
    parser.add_argument(
        "--csv", metavar="FILE", help="write every record as a row of a CSV file; - for standard output"
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

    folder = options(arguments).results
    records = Store(folder).records(arguments.bugs)
    if not records and not records.problems:
        raise UsageError(f"there are no records of {', '.join(arguments.bugs) or 'any bug'} in {folder}")
    arguments.status = 2 if records.problems else 0
    if arguments.csv:
        write_csv(records, arguments.csv)
    elif records:
        print(columns(runs(records.rows)))
    print(unreadable(records.problems), end="", file=sys.stderr)
    return int(arguments.status)
