"""Scores as commands compute, write and print them: of detectors, by seeds,
and of rewritten programs.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainbugs.cli.documents import against_document, print_json, score_documents
from trainbugs.cli.terminal import show_table, show_text
from trainbugs.cli.text import unreadable

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.records import Records
    from evaluation.scoring.report import ScoreTable
    from evaluation.scoring.tables import ScoreTables
    from runner.bugs.catalog import Catalog

# Formats of one document on standard output: no further table is printed.
DOCUMENTS = ("json", "csv")


@dataclass(frozen=True)
class ScoreFolder:
    """Where files are written, and where they will be:
    those that are promoted are prepared elsewhere.
    """

    path: Path
    final: Path | None = None

    @property
    def name(self) -> Path:
        """The folder that a reader is told."""
        return self.final or self.path


def write_scores(
    tables: "ScoreTables", folder: ScoreFolder, figures: str, catalog: "Catalog"
) -> list[Path]:
    """Write the scores, and figures of that format unless it is `none`; returns the files."""
    from evaluation.reading.load import committed_folder
    from evaluation.scoring import report
    from plots.detectors import draw
    from trainbugs.descriptions import locations

    # Of all committed records the outcomes are a large file, which `scores` makes for whoever asks,
    # and so are the comparisons of rules that are not chosen.
    is_committed = folder.name.resolve() == committed_folder(catalog.root).resolve()
    outcomes = None if is_committed else tables.outcomes
    comparisons = tables.comparisons
    if is_committed:
        comparisons = comparisons[comparisons.p_holm.notna()]
    paths = report.write(tables.scores, outcomes, comparisons, folder.path)
    if figures != "none":
        paths += draw(tables.outcomes, tables.scores, folder.path, figures, locations(catalog))
    return paths


def print_scores(tables: "ScoreTables", format: str) -> None:
    """Print the scores on standard output."""
    from evaluation.scoring import report

    if format == "json":
        print_json(score_documents(tables.scores))
    elif format == "csv":
        print(report.as_csv(tables.scores), end="")
    else:
        # Tables by what detectors were given need their titles.
        shown = report.tables(tables.scores, tables.comparisons)
        _print_tables(shown, format, with_title=report.is_grouped(tables.scores))


def print_score_notes(
    tables: "ScoreTables", paths: Sequence[Path], folder: ScoreFolder, format: str
) -> None:
    """Print what has to be said below the scores, and where they are written."""
    from evaluation.scoring import report

    names = ", ".join(path.name for path in paths)
    notes = [*report.notes(tables.outcomes, tables.scores), f"written to {folder.name}: {names}"]
    if format == "table":
        show_text("\n".join(notes))
    else:
        print("\n".join(notes), file=sys.stderr)


def report_scores(
    records: "Records",
    folder: ScoreFolder,
    format: str,
    catalog: "Catalog",
    figures: str = "png",
) -> "pd.DataFrame":
    """Compute, write and print the scores of records; returns the scores."""
    from evaluation.scoring.tables import ScoreTables

    tables = ScoreTables(records, catalog)
    # Written before anything is printed: the reader may go away.
    paths = write_scores(tables, folder, figures, catalog)
    print_scores(tables, format)
    print_score_notes(tables, paths, folder, format)
    return tables.scores


def report_promoted_scores(
    records: "Records", folder: ScoreFolder, format: str, catalog: "Catalog", figures: str
) -> "pd.DataFrame":
    """The same for scores that come second: where a document has been printed there is no other."""
    from evaluation.scoring.tables import ScoreTables

    tables = ScoreTables(records, catalog)
    paths = write_scores(tables, folder, figures, catalog)
    if format != "json":
        print_scores(tables, format)
    print_score_notes(tables, paths, folder, format)
    return tables.scores


def report_against(
    records: "Records",
    mine: Sequence[str],
    out: Path,
    format: str,
    catalog: "Catalog",
    figures: str,
) -> None:
    """Compute, write and print how the detectors `mine` stand against all others of the records.

    Raises UsageError where one of yours, or every other one, has no records.
    """
    from evaluation.scoring import against, report
    from evaluation.scoring.tables import ScoreTables
    from plots.detector_against import draw_against

    computed = ScoreTables(records, catalog)
    against.refuse_absent(mine, set(computed.outcomes.detector), "--results")
    compared = against.compare_against(computed.outcomes, computed.scores, mine)
    paths = [
        report.write_table(compared.versus, out / against.VERSUS_FILE),
        report.write_table(compared.cases, out / against.CASES_FILE),
    ]
    if figures != "none":
        drawn = draw_against(compared.versus, out / f"against.{figures}")
        paths += [drawn] if drawn else []
    if format == "json":
        print_json(against_document(compared))
    elif format == "csv":
        print(report.as_csv(compared.versus), end="")
    else:
        _print_tables(against.tables(compared), format, with_title=True)
    names = ", ".join(path.name for path in paths)
    print(f"written to {out}: {names}", file=sys.stdout if format == "table" else sys.stderr)


def report_seeds(
    records: "Records | None", scores: "pd.DataFrame", folder: ScoreFolder, format: str
) -> None:
    """Write and print how the answers agree on cases that were met by several seeds.

    The file of an earlier call does not stay. With a format that has one document the table is
    written only.
    """
    from evaluation.records import OTHER_CODE
    from evaluation.scoring import report, seeds
    from evaluation.scoring.outcomes import outcomes

    (folder.path / seeds.FILE).unlink(missing_ok=True)
    if records is None:
        return
    other_code = records.excluded_detectors(OTHER_CODE)
    if other_code:
        print(
            f"by seeds: of {', '.join(other_code)} records of further seeds are left out: they are "
            "of another code than those of the first one, or there is none of it",
            file=sys.stderr,
        )
    table = seeds.by_seed(outcomes(records.checks, records.rules))
    if table.empty:
        return
    path = report.write_table(table, folder.path / seeds.FILE)
    _print_further_table(seeds.to_read(table, scores), path, folder, format)


def report_rewritten(
    records: "Records | None", scores: "pd.DataFrame | None", folder: ScoreFolder, format: str
) -> Sequence[str]:
    """Write and print the scores of public, perturbed and planted programs side by side,
    if there are any of these.

    If there are many rows, those are not printed in whose place `scores`, the scores of public
    programs, choose another rule. With a format that has one document the table is written only.
    Returns a line for each file that cannot be read.
    """
    from evaluation.scoring import report, rewritten

    if records is None:
        return ()
    _print_rewritten_notes(records)
    if all(check.rewriting == "public" for check in records.checks):
        return records.problems
    table = rewritten.side_by_side(records)
    path = report.write_table(table, folder.path / rewritten.FILE)
    _print_further_table(rewritten.to_read(table, scores), path, folder, format)
    return records.problems


def _print_rewritten_notes(records: "Records") -> None:
    from evaluation.records import OLDER_CODE, OTHER_CODE

    print(unreadable(records.problems), end="", file=sys.stderr)
    older = records.excluded_count(OLDER_CODE)
    if older:
        print(
            f"side by side: {older} records of older code of a detector are left out",
            file=sys.stderr,
        )
    other_code = records.excluded_detectors(OTHER_CODE)
    if other_code:
        print(
            f"side by side: of {', '.join(other_code)} records of rewritten programs are left out: "
            "they are of another code than those of published ones",
            file=sys.stderr,
        )


def _print_further_table(table: "ScoreTable", path: Path, folder: ScoreFolder, format: str) -> None:
    """Print one more table, unless the format has one document, and where it is written."""
    stream = sys.stdout if format == "table" else sys.stderr
    if format == "table":
        print()
    if format not in DOCUMENTS:
        _print_tables([table], format, with_title=True)
    print(f"written to {folder.name}: {path.name}", file=stream)


def _print_tables(tables: "Sequence[ScoreTable]", format: str, with_title: bool = False) -> None:
    """Print tables; as text the first one has no title, unless it is `with_title`."""
    from evaluation.scoring import report

    if format != "table":
        text = report.markdown if format == "markdown" else report.latex
        for table in tables:
            print(text(table), end="\n\n")
        return
    for number, table in enumerate(tables):
        if number or with_title:
            print(f"{table.title}:")
        show_table(table.rows)
        print()
