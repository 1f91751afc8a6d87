"""The subcommand tables: the tables of bugs' READMEs with the numbers of the committed records."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.plurals import counted
from trainbugs import api
from trainbugs.cli.exits import FAILURE, SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command

if TYPE_CHECKING:
    from runner.authoring.tables import TableComparison
    from runner.bugs.bug import Bug

HELP = Help(
    "recompute the tables in READMEs of bugs from the committed records",
    ["tables SO-60335387", "tables SO-60335387 --write", "tables my/own/bug"],
)


@dataclass(frozen=True)
class TablesOptions:
    """The options of `trainbugs tables`."""

    bugs: tuple[str, ...]
    write: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add tables."""
    parser = add_command(subparsers, "tables", make_tables, TablesOptions, HELP)
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the numbers into README.md, and print no table"
    )


def make_tables(options: TablesOptions) -> ExitStatus:
    """Print or write the tables; FAILURE where a cell cannot be computed."""
    from runner.authoring.tables import compare_tables

    catalog = api.load()
    status = SUCCESS
    for name in options.bugs or catalog.ids():
        bug = catalog.bug(name)
        comparisons = compare_tables(bug)
        if options.write:
            _write(bug, comparisons)
        else:
            _print(bug, comparisons)
        print(f"{bug.id}: {_counts(comparisons)}")
        for failure in filter(None, (comparison.failure for comparison in comparisons)):
            print(f"{bug.id}: {failure}", file=sys.stderr)
            status = FAILURE
    return status


def _print(bug: "Bug", comparisons: "Sequence[TableComparison]") -> None:
    """Print the tables as they would be."""
    from runner.authoring.tables import readme_text, with_recorded_numbers

    lines = with_recorded_numbers(readme_text(bug), comparisons).splitlines()
    for comparison in comparisons:
        table = comparison.table
        print("\n".join([*lines[table.line - 1 : table.end], ""]))


def _write(bug: "Bug", comparisons: "Sequence[TableComparison]") -> None:
    """Write the README where a number differs, and print what differed."""
    from runner.authoring.tables import README, readme_text, with_recorded_numbers
    from runner.files.atomic import write_text

    differences = [item.difference for item in comparisons if item.difference]
    if differences:
        text = with_recorded_numbers(readme_text(bug), comparisons)
        write_text(bug.directory / README, text)
    for difference in differences:
        print(f"{bug.id}: mended {difference}")


def _counts(comparisons: "Sequence[TableComparison]") -> str:
    """How many cells the records give, and how many they do not, by the reason."""
    cells = [cell for comparison in comparisons for cell in comparison.cells]
    texts = Counter(cell.source.text for cell in cells if cell.source.text)
    recorded = sum(cell.numbers is not None for cell in cells)
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(texts.items()))
    text = f"; without a record: {reasons}" if texts else ""
    tables = counted(len(comparisons), "table")
    return f"{tables}, {counted(recorded, 'cell')} from records{text}"
