"""Scores as they are printed, and written to files."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainbugs import api
from trainbugs.cli.documents import of_scores, print_json
from trainbugs.cli.terminal import show_table, show_text
from trainbugs.cli.text import unreadable

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.records import Records
    from evaluation.scoring.report import Table


@dataclass(frozen=True)
class Out:
    """Where files are written, and where they will be: those that are promoted are prepared elsewhere."""

    folder: Path
    shown: Path | None = None

    @property
    def where(self) -> Path:
        """The folder that a person is told."""
        return self.shown or self.folder


def show_scores(
    evaluated: "Records", arguments: Namespace, out: Out, kind: str = "png", second: bool = False
) -> "pd.DataFrame":
    """Print the scores, unless a document stands there that may have no second one; write them, and figures.

    Returns the scores.
    """
    from evaluation.catalog import submissions
    from evaluation.scoring import report
    from evaluation.scoring.comparison import comparisons
    from evaluation.scoring.scores import outcomes, scores
    from plots.detectors import draw
    from trainbugs.descriptions import families

    catalog = api.load()
    known = submissions.known(catalog.root)
    table = outcomes(evaluated.checks, evaluated.rules, known)
    whole = outcomes(evaluated.whole, evaluated.rules, known) if evaluated.whole else None
    scored = scores(table, evaluated.overheads, whole)
    compared = comparisons(table, scored)
    # Of all committed records the outcomes are a large file, which `scores` makes for whoever asks.
    is_committed = out.where == catalog.root / "detectors" / "expected"
    # Before anything is printed: whoever reads that may go away.
    paths = report.write(scored, None if is_committed else table, compared, out.folder)
    paths += draw(table, scored, out.folder, kind, families(catalog)) if kind != "none" else []
    form = _form(arguments)
    if form == "json":
        if not second:
            print_json(of_scores(scored))
    elif form == "csv":
        print(report.as_csv(scored), end="")
    else:
        _print_tables(report.tables(scored, compared), form)
    notes = [
        *report.notes(table, scored),
        f"written to {out.where}: {', '.join(path.name for path in paths)}",
    ]
    if form == "table":
        show_text("\n".join(notes))
    else:
        print("\n".join(notes), file=sys.stderr)
    return scored


def show_seeds(
    read: "Records | None", scored: "pd.DataFrame", arguments: Namespace, out: Out
) -> None:
    """Print how the answers agree on cases that were met by several seeds, and write it; of an earlier call none stays.

    With a format that has one document it is written only.
    """
    from evaluation.records import OTHER_CODE
    from evaluation.scoring import report, seeds
    from evaluation.scoring.scores import outcomes

    (out.folder / seeds.FILE).unlink(missing_ok=True)
    if read is None:
        return
    other_code = read.excluded_detectors(OTHER_CODE)
    if other_code:
        print(
            f"by seeds: of {', '.join(other_code)} records of further seeds are left out: they are of another "
            "code than those of the first one, or there is none of it",
            file=sys.stderr,
        )
    table = seeds.by_seed(outcomes(read.checks, read.rules))
    if table.empty:
        return
    path = report.write_table(table, out.folder / seeds.FILE)
    _show_second(seeds.to_read(table, scored), path, arguments, out)


def show_rewritten(
    read: "Records | None", scored: "pd.DataFrame | None", arguments: Namespace, out: Out
) -> Sequence[str]:
    """Print the scores of public, perturbed and planted programs side by side, if there are any of these; write them.

    Rows are not printed in whose place another rule is chosen by `scored`, the scores of public programs, if these are
    many.
    With a format that has one document they are written only. Returns a line for each file that cannot be read.
    """
    from evaluation.records import OLDER_CODE, OTHER_CODE
    from evaluation.scoring import report, rewritten

    if read is None:
        return ()
    print(unreadable(read.problems), end="", file=sys.stderr)
    older = read.excluded_count(OLDER_CODE)
    if older:
        print(
            f"side by side: {older} records of older code of a detector are left out",
            file=sys.stderr,
        )
    other_code = read.excluded_detectors(OTHER_CODE)
    if other_code:
        print(
            f"side by side: of {', '.join(other_code)} records of rewritten programs are left out: they are of "
            "another code than those of published ones",
            file=sys.stderr,
        )
    if all(record.rewriting == "public" for record in read.checks):
        return read.problems
    table = rewritten.side_by_side(read)
    path = report.write_table(table, out.folder / rewritten.FILE)
    _show_second(rewritten.to_read(table, scored), path, arguments, out)
    return read.problems


def _show_second(table: "Table", path: Path, arguments: Namespace, out: Out) -> None:
    """Print one more table, unless the format has one document, and where it is written."""
    form = _form(arguments)
    if form == "table":
        print()
    if form not in ("json", "csv"):
        _print_tables([table], form, titled=True)
    print(
        f"written to {out.where}: {path.name}", file=sys.stdout if form == "table" else sys.stderr
    )


def _form(arguments: Namespace) -> str:
    return "json" if arguments.json else getattr(arguments, "format", "table")


def _print_tables(tables: "Sequence[Table]", form: str, titled: bool = False) -> None:
    """Print tables; as text the first one has no title, unless it is `titled`."""
    from evaluation.scoring import report

    for number, table in enumerate(tables):
        if form != "table":
            print((report.markdown if form == "markdown" else report.latex)(table), end="\n\n")
            continue
        if number or titled:
            print(f"{table.title}:")
        show_table(table.rows)
        print()
