"""The subcommand list: the bugs that match, with their cases."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import count, count_harm
from runner.bugs.taxonomy import DECLARED, LISTS
from runner.errors import CatalogError, UsageError
from runner.files.atomic import write_text
from runner.session.selection import Filter
from trainbugs import api
from trainbugs.cli.catalogue_page import catalogue_page
from trainbugs.cli.documents import print_json, print_rows, statistics_documents
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json, add_session_options
from trainbugs.cli.tables import Table, statistics_tables
from trainbugs.cli.terminal import show_table
from trainbugs.descriptions import bug_document, harm_rows
from trainbugs.facts import CASE_FACTS, BugCase

HELP = Help(
    "show the bugs and their cases",
    [
        "list",
        "list --label compiler --max-seconds 30",
        "list --needs 2-processes",
        "list --stage evaluation --harm reported",
        "list --found-by sanitizer-3",
        "list --json",
        "list --stats",
    ],
)
# The columns of `trainbugs list`, by their headings: what matters most comes first, since a
# terminal may be narrow.
LIST_COLUMNS = {
    "CASE": "id",
    "SECONDS": "seconds",
    "TITLE": "headline",
    "LOCATION": "location",
    "ENVIRONMENT": "environment",
    "NEEDS": "needs",
}
FIGURE_SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class ListOptions:
    """The options of `trainbugs list`."""

    bugs: tuple[str, ...]
    needs: str | None
    max_seconds: float | None
    json: bool
    markdown: bool
    stats: bool
    out: Path | None
    harm: str | None
    code_at_fault: str | None
    state_upstream: str | None
    source_read: str | None
    split: str | None
    family: str | None
    location: str | None
    cause: str | None
    effect: str | None
    stage: str | None
    environment: str | None
    found_by: str | None
    label: tuple[str, ...] = ()

    @property
    def filter(self) -> Filter:
        """The conditions on the cases."""
        names = (*LISTS, *DECLARED, "family", "environment")
        entries = {name: getattr(self, name) for name in names}
        declared = {name: entry for name, entry in entries.items() if entry is not None}
        return Filter(self.label, self.needs, self.max_seconds, declared)

    def check(self) -> None:
        """Raise UsageError for options that do not fit together."""
        if self.stats and self.markdown:
            raise UsageError("--stats and --markdown exclude each other; give one of them")
        if self.out is None:
            return
        if not (self.stats or self.markdown):
            raise UsageError("--out needs --stats or --markdown")
        if self.stats and self.out.suffix not in FIGURE_SUFFIXES:
            raise UsageError(f"--out {self.out}: expected a .png, .pdf or .svg with --stats")
        if self.markdown and self.out.suffix != ".md":
            raise UsageError(f"--out {self.out}: expected a .md with --markdown")


def list_table(bugs: Sequence[Bug]) -> Table:
    """The cases of bugs."""
    facts = [CASE_FACTS[name] for name in LIST_COLUMNS.values()]
    table = [list(LIST_COLUMNS)]
    for bug in bugs:
        for case in bug.cases.values():
            subject = BugCase(bug, case)
            table.append([fact.text(subject) for fact in facts])
    return table


def add_arguments(subparsers: Subparsers) -> None:
    """Add list."""
    parser = add_command(subparsers, "list", list_bugs, ListOptions, HELP)
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    add_session_options(parser, "label")
    parser.add_argument(
        "--needs", metavar="WHAT", help="cases that need data, c++, gpu, 2-processes …, or none"
    )
    parser.add_argument(
        "--max-seconds",
        type=float,
        metavar="S",
        help="cases whose runs took at most S seconds together",
    )
    for name, entries in DECLARED.items():
        text = f"bugs with this {name.replace('_', ' ')}: {', '.join(entries)}"
        parser.add_argument(
            f"--{name.replace('_', '-')}", choices=entries, metavar="ENTRY", help=text
        )
    for name, entries in LISTS.items():
        text = f"bugs with this {name}: {', '.join(entries)}"
        parser.add_argument(f"--{name}", choices=entries, metavar="ENTRY", help=text)
    parser.add_argument("--family", metavar="NAME", help="bugs of this family")
    parser.add_argument("--environment", metavar="NAME", help="bugs that run in this environment")
    parser.add_argument(
        "--found-by",
        metavar="DETECTOR",
        help="bugs that this detector finds by its chosen rule, in the committed records: it is "
        "PAIRED on at least one case",
    )
    _add_forms(parser)


def _add_forms(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the bugs are shown."""
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--markdown", action="store_true", help="print the page docs/bugs.md")
    parser.add_argument(
        "--stats",
        action="store_true",
        help="count the bugs by what they declare, and by their labels",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="with --stats: the figure, a .png, .pdf or .svg; with --markdown: the page, a .md",
    )


def list_bugs(options: ListOptions) -> ExitStatus:
    """Print the bugs that match; raises CatalogError at the end where some cannot be read."""
    options.check()
    catalog = api.load()
    bugs, problems = _load(catalog, options)
    matching = options.filter.of(bugs)
    if options.filter != Filter() and not matching:
        raise UsageError("; ".join([options.filter.lack(bugs), *problems]))
    if options.found_by is not None:
        matching = _found(matching, options.found_by, catalog, problems)
    if options.stats:
        _print_statistics(matching, options)
    elif options.markdown and options.out:
        # A page that lacks bugs replaces no whole one.
        if not problems:
            _write_page(matching, options.out)
    else:
        _print_bugs(matching, options)
    if problems:
        raise CatalogError("; ".join(problems))
    return SUCCESS


def _load(catalog: Catalog, options: ListOptions) -> tuple[list[Bug], list[str]]:
    """The named bugs, or all, and a line for each one that cannot be read."""
    bugs, problems = [], []
    for name in dict.fromkeys(options.bugs or catalog.ids()):
        try:
            bugs.append(catalog.bug(name))
        except CatalogError as error:
            problems.append(str(error))
    return bugs, problems


def _found(bugs: list[Bug], detector: str, catalog: Catalog, problems: list[str]) -> list[Bug]:
    """The bugs that a detector finds; raises UsageError where there are none, or for a detector
    without committed records.
    """
    # Slow to import: `list` does without pandas.
    from evaluation.reading.sources import RecordSelection, read_records
    from evaluation.scoring.found import found_bugs
    from evaluation.scoring.tables import ScoreTables

    selection = RecordSelection((detector,), "expected", Path())
    tables = ScoreTables(read_records(catalog, selection), catalog)
    found = found_bugs(tables.outcomes, tables.scores)
    matching = [bug for bug in bugs if bug.id in found]
    if not matching:
        lack = f"{detector} finds none of these {len(bugs)} bugs; `trainbugs list` shows all"
        raise UsageError("; ".join([lack, *problems]))
    return matching


def _print_bugs(bugs: list[Bug], options: ListOptions) -> None:
    if options.json:
        print_json([bug_document(bug) for bug in bugs])
    elif options.markdown:
        print(catalogue_page(bugs))
    else:
        show_table(list_table(bugs))


def _write_page(bugs: list[Bug], path: Path) -> None:
    write_text(path, f"{catalogue_page(bugs)}\n")
    print(f"written: {path}")


def _print_statistics(bugs: list[Bug], options: ListOptions) -> None:
    """Print the numbers of bugs, and draw them if the options say where."""
    numbers = count(bugs)
    if options.json:
        print_rows(statistics_documents(numbers, count_harm(bugs)))
    else:
        heading, *harm_lines = harm_rows(bugs)
        harm_table = [[cell.upper() for cell in heading], *harm_lines]
        tables = [harm_table, *statistics_tables(numbers)]
        for table in tables:
            show_table(table)
            print()
    if options.out:
        from plots.taxonomy import draw_taxonomy

        path = draw_taxonomy(numbers, options.out)
        print(f"figure: {path}", file=sys.stderr if options.json else sys.stdout)
