"""The subcommand scores: scores of detectors from their records."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.exits import INVALID, ExitStatus, invalid_if, reporting
from trainbugs.cli.parser import (
    Help,
    Subparsers,
    add_command,
    add_figures,
    add_json,
    add_session_options,
)
from trainbugs.cli.scoring import ScoreFolder, report_rewritten, report_scores, report_seeds
from trainbugs.cli.text import unreadable

if TYPE_CHECKING:
    from evaluation.reading.sources import RecordSelection, ScoreSource
    from evaluation.records import CheckRecord, Records
    from runner.bugs.catalog import Catalog

HELP = Help(
    "score detectors from their records",
    [
        "scores",
        "scores --from results --figures pdf",
        "scores my-detector --beside api-sequence --format latex",
        "scores my-detector --against all",
    ],
)


@dataclass(frozen=True)
class ScoresOptions:
    """The options of `trainbugs scores`."""

    detectors: tuple[str, ...]
    source: "ScoreSource | None"
    beside: tuple[str, ...]
    bugs: tuple[str, ...]
    common: bool
    isolated: bool
    format: str
    figures: str
    out: Path
    json: bool
    label: tuple[str, ...] = ()
    results: Path = Path("results")
    against: tuple[str, ...] = ()

    @property
    def printed_format(self) -> str:
        """The format of the scores on standard output."""
        return "json" if self.json else self.format

    @property
    def selection(self) -> "RecordSelection":
        """Which records to read."""
        from evaluation.reading.sources import RecordSelection

        return RecordSelection(
            detectors=self.detectors,
            source=self.source or ("results" if self.beside else "expected"),
            folder=self.results,
            bugs=self.bugs,
            label=self.label,
            common=self.common,
            beside=self.beside,
            isolated=self.isolated,
        )

    @property
    def against_selection(self) -> "RecordSelection":
        """Which records to read for `against`: yours before the committed ones, if you have any."""
        from evaluation.reading.sources import RecordSelection

        everything = "all" in self.against
        return RecordSelection(
            detectors=() if everything else (*self.detectors, *self.against),
            source=self.source or ("both" if self.results.is_dir() else "expected"),
            folder=self.results,
            bugs=self.bugs,
            label=self.label,
            isolated=self.isolated,
        )

    @property
    def is_part(self) -> bool:
        """Whether only a part of the programs counts."""
        return bool(self.bugs or self.label or self.common or self.beside or self.isolated)


def add_arguments(subparsers: Subparsers) -> None:
    """Add scores."""
    parser = add_command(subparsers, "scores", score_detectors, ScoresOptions, HELP)
    parser.add_argument(
        "detectors", nargs="*", metavar="DETECTOR", help="names of detectors; default: all"
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("expected", "results", "both", "submissions"),
        help=(
            "the expected records; your results; both: yours, and the expected ones of other "
            "detectors; or submissions: submitted and expected ones; default: expected"
        ),
    )
    parser.add_argument(
        "--beside", nargs="+", default=(), metavar="DETECTOR",
        help="your results and the expected records of these, on the programs that all were shown",
    )  # fmt: skip
    parser.add_argument(
        "--against", nargs="+", default=(), metavar="DETECTOR",
        help=(
            "compare your detector with each of these, or with all; say what it misses, and what "
            "nobody finds"
        ),
    )  # fmt: skip
    parser.add_argument(
        "--bugs",
        nargs="+",
        default=(),
        metavar="BUG[/CASE]",
        help="only these bugs, and all controls",
    )
    parser.add_argument(
        "--common", action="store_true", help="only programs that all detectors were shown"
    )
    parser.add_argument(
        "--isolated",
        action="store_true",
        help="only records of programs that ran in namespaces (docs/isolation.md)",
    )
    formats = ("table", "csv", "json", "markdown", "latex")
    parser.add_argument(
        "--format",
        choices=formats,
        default="table",
        help="format of what is printed; default: table",
    )
    add_figures(parser)
    add_session_options(parser, "label", "results")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("scores"),
        metavar="DIR",
        help="folder for scores and figures; default: ./scores",
    )
    add_json(parser)


def score_detectors(options: ScoresOptions) -> ExitStatus:
    """Score detectors from their records; INVALID where some cannot be read."""
    from evaluation.reading.sources import read_records
    from runner.bugs.catalog import CatalogSnapshot

    catalog = CatalogSnapshot(api.load().root)
    if options.against:
        return _score_against(options, catalog)
    records = read_records(catalog, options.selection)
    status = invalid_if(records.problems)
    with reporting(status):
        _print_notes(records, catalog.root)
        problems = _report(records, catalog, options)
    return INVALID if problems else status


def _score_against(options: ScoresOptions, catalog: "Catalog") -> ExitStatus:
    """Set detectors against others; raises UsageError where none of yours is named."""
    from evaluation.reading.sources import read_records
    from trainbugs.cli.scoring import report_against

    _refuse_options_beside_against(options)
    records = read_records(catalog, options.against_selection)
    status = invalid_if(records.problems)
    with reporting(status):
        _print_notes(records, catalog.root)
        format, figures = options.printed_format, options.figures
        report_against(records, options.detectors, options.out, format, catalog, figures)
    return status


def _refuse_options_beside_against(options: ScoresOptions) -> None:
    if not options.detectors:
        raise UsageError(
            "--against sets a detector of yours against others: name it before, as in "
            "`trainbugs scores my-detector --against all`"
        )
    if options.beside or options.common:
        raise UsageError(
            "--against compares each pair on the programs that both met: leave out --beside and "
            "--common"
        )
    twice = sorted(set(options.detectors) & set(options.against))
    if twice:
        raise UsageError(f"{twice[0]} is named before --against and after it; leave one out")


def _print_notes(records: "Records", root: Path) -> None:
    """Print which records are left out or stale, on standard error."""
    from evaluation.records import OLDER_CODE, REPLACED, STALE, UNCOUNTED

    print(unreadable(records.problems), end="", file=sys.stderr)
    older = records.excluded_count(OLDER_CODE)
    if older:
        print(f"{older} records of older code of a detector are left out", file=sys.stderr)
    uncounted = records.excluded_count(UNCOUNTED)
    if uncounted:
        print(
            f"{uncounted} records of retired bugs and injected faults are in no score; name them "
            "by --bugs",
            file=sys.stderr,
        )
    stale = records.excluded_count(STALE)
    if stale:
        print(
            f"{stale} records are of bugs whose programs have changed since, and in no score; "
            "evaluate the detectors anew",
            file=sys.stderr,
        )
    _print_stale(records.checks, root)
    replaced = records.excluded_detectors(REPLACED)
    if replaced:
        print(
            f"of {', '.join(replaced)} your records count, and the committed ones do not: name "
            "another --results to have these",
            file=sys.stderr,
        )


def _print_stale(checks: "Sequence[CheckRecord]", root: Path) -> None:
    """Print which share of the records of controls are of scripts that have changed since."""
    from evaluation.catalog import controls
    from evaluation.model import CONTROL
    from evaluation.reading.stale import stale_controls

    stale = stale_controls(checks, controls.load(root))
    if stale:
        shown = sum(check.kind == CONTROL for check in checks)
        print(
            f"{len(stale)} of {shown} records of controls are stale, but count: their scripts have "
            "changed since; evaluate the detectors anew",
            file=sys.stderr,
        )


def _print_earlier(root: Path, source: "ScoreSource") -> None:
    """Say of which committed tables the records are older than those of the scores."""
    from evaluation.reading.load import is_earlier
    from evaluation.store.committed import SEEDS
    from runner.bugs.config import REWRITTEN

    parts = {SEEDS: "by several seeds", REWRITTEN: "of rewritten programs"}
    older = [words for part, words in parts.items() if is_earlier(root, part)]
    if older and source in ("expected", "submissions"):
        print(
            f"of an earlier kit, and in no score above: the table {' and the table '.join(older)} "
            "(docs/records.md)",
            file=sys.stderr,
        )


def _report(records: "Records", catalog: "Catalog", options: ScoresOptions) -> Sequence[str]:
    """Write and print scores; returns a line for each file of rewritten programs that cannot be
    read.
    """
    from evaluation.reading.sources import read_rewritten, read_seeds

    folder, format = ScoreFolder(options.out), options.printed_format
    scores = report_scores(records, folder, format, catalog, options.figures)
    if options.is_part:
        # Of a part of the programs there is no further table.
        report_seeds(None, scores, folder, format)
        return ()
    selection = options.selection
    _print_earlier(catalog.root, selection.source)
    report_seeds(read_seeds(catalog, selection, records), scores, folder, format)
    return report_rewritten(read_rewritten(catalog, selection), scores, folder, format)
