"""Figures for a paper: PDFs that are one and two columns wide, with fonts that publishers take."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from plots.curves import compare_on_paper
from plots.figures import CaseRuns, DrawnFigures, naming
from plots.style import finished_runs, on_paper, save
from runner.errors import MeasureError

# Columns of a page that a figure takes, and what its file is called then.
WIDTHS = {1: "column", 2: "page"}


def draw_paper(runs: Sequence[CaseRuns], out: Path) -> DrawnFigures:
    """Draw buggy over fixed as out/<bug>/<case>_column.pdf and ..._page.pdf.

    A case that has a heat map, or no finished run of a variant, is left out with a line that says
    so. Raises ResultsError where a file cannot be written.
    """
    paths: list[Path] = []
    problems = []
    with on_paper():
        for item in runs:
            try:
                with naming(item.case):
                    paths += _draw_case(item, out / item.bug.id)
            except MeasureError as error:
                problems.append(str(error))
    return DrawnFigures(tuple(paths), tuple(problems))


def _draw_case(item: CaseRuns, folder: Path) -> Iterator[Path]:
    if item.case.plot.heatmap:
        raise MeasureError("its heat map is wider than a page: draw it without --paper")
    for variant, finished in finished_runs(item.records).items():
        if not finished:
            raise MeasureError(f"there is no finished run of the {variant} variant")
    for columns, width in WIDTHS.items():
        figure = compare_on_paper(item.case, item.records, columns)
        yield save(figure, folder / f"{item.case.name}_{width}.pdf")
