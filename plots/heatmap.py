"""Heat maps of a case: a cell for each record, with a colour where there is a number, and a word."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from plots.style import PREFIX, Only, new_figure, save, seeds_text, styled
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
    """Draw origin_, fix_ and compare_<case> as far as there are finished runs and `only` says so; returns the files.

    The largest value over the seeds is drawn. Raises MeasureError where a metric that the map names is missing.
    """
    done = {variant: [r for r in records if r.ok and r.variant == variant] for variant in VARIANTS}
    figures = {f"{PREFIX[variant]}_{case.name}": runs for variant, runs in done.items() if runs}
    if all(done.values()):
        figures[f"compare_{case.name}"] = [record for runs in done.values() for record in runs]
    with styled():
        return [
            save(heatmaps(case, runs), directory / f"{name}.{kind}")
            for name, runs in figures.items()
            if only(name)
        ]


def heatmaps(case: Case, records: Sequence[RunRecord]) -> "Figure":
    """The heat maps of the variants of these finished runs, side by side; raises MeasureError as `draw_heatmaps`."""
    assert case.plot.heatmap is not None
    variants = [
        variant for variant in VARIANTS if any(record.variant == variant for record in records)
    ]
    cells = {
        v: _cells(case.plot.heatmap, [record for record in records if record.variant == v])
        for v in variants
    }
    figure = _draw(case.plot.heatmap, cells)
    figure.suptitle(f"{case.id}, {' and '.join(variants)}{seeds_text(records)}")
    return figure


def _cells(heatmap: Heatmap, runs: Sequence[RunRecord]) -> Cells:
    """The value and the word of each (row, column)."""
    cells: dict[tuple[str, str], tuple[float | None, str]] = {}
    for record in (record for run in runs for record in run.metrics):
        missing = [name for name in heatmap.metrics if name not in record]
        if missing:
            raise MeasureError(f"metric {missing[0]!r} of the heat map is missing in a record")
        place = (
            ", ".join(str(record[name]) for name in heatmap.rows),
            str(record[heatmap.columns]),
        )
        before, word = cells.get(place, (None, str(record[heatmap.words])))
        cells[place] = (_larger(before, record[heatmap.value]), word)
    return cells


def _larger(before: float | None, value: Any) -> float | None:
    if not isinstance(value, int | float):
        return before
    return float(value) if before is None else max(before, float(value))


def _draw(heatmap: Heatmap, cells: Mapping[str, Cells]) -> "Figure":
    rows = list(dict.fromkeys(row for places in cells.values() for row, _ in places))
    columns = list(dict.fromkeys(column for places in cells.values() for _, column in places))
    figure = new_figure(1)
    figure.set_size_inches(2.6 + INCHES[0] * len(columns) * len(cells), 1.6 + INCHES[1] * len(rows))
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
    axes.set_xticks(
        range(len(columns)), ["\n".join(wrap(column, 13)) for column in columns], fontsize=8
    )
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.grid(visible=False)
    # White lines between the cells.
    axes.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
    axes.grid(visible=True, which="minor", color="white", alpha=1, linewidth=1)
    axes.tick_params(which="both", length=0)
    return image
