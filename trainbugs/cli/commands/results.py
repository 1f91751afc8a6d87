"""The subcommand results: shows run records as a table."""

import gc
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from runner.files.schema_errors import near
from trainbugs import api
from trainbugs.cli.documents import print_rows, run_documents
from trainbugs.cli.exits import ExitStatus, invalid_if, reporting
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json, add_session_options
from trainbugs.cli.tables import results_table
from trainbugs.cli.terminal import show_table
from trainbugs.cli.text import unreadable

if TYPE_CHECKING:
    from runner.results.folder_index import FolderRecords, IndexRow
    from runner.results.record import RunRecord
    from runner.results.store import Store

HELP = Help("show run records as a table", ["results", "results --csv all.csv SO-60335387"])


@dataclass(frozen=True)
class ResultsOptions:
    """The options of `trainbugs results`."""

    bugs: tuple[str, ...]
    json: bool
    csv: str | None
    results: Path = Path("results")


def add_arguments(subparsers: Subparsers) -> None:
    """Add results."""
    parser = add_command(subparsers, "results", show_results, ResultsOptions, HELP)
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
    add_session_options(parser, "results")


def show_results(options: ResultsOptions) -> ExitStatus:
    """Print the runs of a results folder, or write their records;
    INVALID where some cannot be read.
    """
    # Garbage collection of 100,000 rows, which hold no cycles, would take as long as reading their
    # index.
    gc.disable()
    try:
        records = _read(options)
        status = invalid_if(records.problems)
        with reporting(status):
            _print(records, options)
        return status
    finally:
        gc.enable()


def _read(options: ResultsOptions) -> "FolderRecords[RunRecord]":
    """The records of the named bugs, or of all; raises UsageError where there are none."""
    from runner.results.store import Store

    store = Store(options.results)
    bugs = [_bug_id(name) for name in options.bugs]
    records = store.records(bugs)
    if not records.problems:
        _refuse_missing(bugs, records.rows, store)
    return records


def _bug_id(name: str) -> str:
    """The ID of the bug in a directory; any other name as it is,
    since records outlive the bugs of a catalogue.
    """
    return api.load().bug(name).id if (Path(name) / "config.json").exists() else name


def _refuse_missing(bugs: Sequence[str], rows: "Sequence[IndexRow]", store: "Store") -> None:
    """Raise UsageError for bugs that have no records there, each with what may be meant,
    or where there are none.
    """
    present = {f"{row.bug}/{row.case}" for row in rows} | {row.bug for row in rows}
    missing = [f"{name}{near(name, store.bugs())}" for name in bugs if name not in present]
    if missing or not rows:
        names = ", ".join(missing) or "any bug"
        raise UsageError(f"there are no records of {names} in {store.root}")


def _print(records: "FolderRecords[RunRecord]", options: ResultsOptions) -> None:
    from runner.results.export import write_csv

    if options.csv:
        write_csv(records, options.csv)
    elif options.json:
        print_rows(run_documents(records))
    elif records:
        show_table(results_table(records.rows))
    print(unreadable(records.problems), end="", file=sys.stderr)
