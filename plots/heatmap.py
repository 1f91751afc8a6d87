"""Heat maps of a case: a cell for each record, with a colour where there is a number,
and a word.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from plots.style import (
    PREFIX,
    Only,
    finished_runs,
    give_title,
    new_figure,
    save,
    seeds_text,
    styled,
)
from runner.bugs.case import Case
from runner.bugs.figures import Heatmap
from runner.bugs.program import VARIANTS
from runner.errors import MeasureError
from runner.results.record import RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

# From rounding errors of single precision to a difference as large as the values themselves.
RANGE = (1e-8, 1.0)
INCHES = (0.95, 0.19)

Cells = Mapping[tuple[str, str], tuple[float | None, str]]


def draw_heatmaps(
    case: Case,
    records: Sequence[RunRecord],
    directory: Path,
    kind: str,
    only: Only = lambda name: True,
) -> list[Path]:
    """Draw origin_, fix_ and compare_<case> as far as there are finished runs and `only` says so;
    returns the files.

    The largest value over the seeds is drawn. Raises MeasureError where a metric that the map names
    is missing.
    """
    finished = finished_runs(records)
    figures = {f"{PREFIX[variant]}_{case.name}": runs for variant, runs in finished.items() if runs}
    if all(finished.values()):
        figures[f"compare_{case.name}"] = list(chain.from_iterable(finished.values()))
    with styled():
        return [
            save(heatmaps(case, runs), directory / f"{name}.{kind}")
            for name, runs in figures.items()
            if only(name)
        ]


def heatmaps(case: Case, records: Sequence[RunRecord]) -> "Figure":
    """The heat maps of the variants of these finished runs, side by side;
    raises MeasureError as `draw_heatmaps`.
    """
    heatmap = case.plot.heatmap
    assert heatmap is not None
    cells: dict[str, Cells] = {}
    for variant in VARIANTS:
        runs = [record for record in records if record.variant == variant]
        if runs:
            cells[variant] = _cells(heatmap, runs)
    figure = _draw(heatmap, cells)
    give_title(figure, f"{case.id}, {' and '.join(cells)}{seeds_text(records)}")
    return figure


def _cells(heatmap: Heatmap, runs: Sequence[RunRecord]) -> Cells:
    """The value and the word of each (row, column)."""
    cells: dict[tuple[str, str], tuple[float | None, str]] = {}
    for metrics in chain.from_iterable(run.metrics for run in runs):
        missing = [name for name in heatmap.metrics if name not in metrics]
        if missing:
            raise MeasureError(f"metric {missing[0]!r} of the heat map is missing in a record")
        row = ", ".join(str(metrics[name]) for name in heatmap.rows)
        place = (row, str(metrics[heatmap.columns]))
        largest, word = cells.get(place, (None, str(metrics[heatmap.words])))
        cells[place] = (_larger(largest, metrics[heatmap.value]), word)
    return cells


def _larger(largest: float | None, value: Any) -> float | None:
    if not isinstance(value, int | float):
        return largest
    if largest is None:
        return float(value)
    return max(largest, float(value))


def _draw(heatmap: Heatmap, cells: Mapping[str, Cells]) -> "Figure":
    places = list(chain.from_iterable(cells.values()))
    rows = list(dict.fromkeys(row for row, _ in places))
    columns = list(dict.fromkeys(column for _, column in places))
    figure = new_figure(1)
    width = 2.6 + INCHES[0] * len(columns) * len(cells)
    height = 1.6 + INCHES[1] * len(rows)
    figure.set_size_inches(width, height)
    all_axes = figure.subplots(1, len(cells), squeeze=False, sharey=True)[0]
    for axes, (variant, variant_cells) in zip(all_axes, cells.items(), strict=True):
        image = _matrix(axes, heatmap, variant_cells, rows, columns)
        axes.set_title(variant)
    figure.colorbar(image, ax=all_axes, label=heatmap.label, shrink=0.5, pad=0.01)
    return figure


def _matrix(
    axes: "Axes", heatmap: Heatmap, cells: Cells, rows: Sequence[str], columns: Sequence[str]
) -> "ScalarMappable":
    from matplotlib.colors import LogNorm

    shade = np.full((len(rows), len(columns)), np.nan)
    for (row, column), (value, word) in cells.items():
        y, x = rows.index(row), columns.index(column)
        if word not in heatmap.quiet:
            axes.text(x, y, word, ha="center", va="center", fontsize=6.5, color="#555555")
        if value is not None:
            shade[y, x] = min(max(value, RANGE[0]), RANGE[1])
    image = axes.imshow(shade, norm=LogNorm(*RANGE), cmap="YlOrRd", aspect="auto")
    labels = ["\n".join(wrap(column, 13)) for column in columns]
    axes.set_xticks(range(len(columns)), labels, fontsize=8)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.grid(visible=False)
    # White lines between the cells.
    axes.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
    axes.grid(visible=True, which="minor", color="white", alpha=1, linewidth=1)
    axes.tick_params(which="both", length=0)
    return image
