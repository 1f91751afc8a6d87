"""The matrix of detectors by families of bugs: cases that each one finds, and right programs that it accuses."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.scoring.scores import ROW, label, with_twins
from plots.style import COLUMN_INCHES, bare_grid, column, new_figure, save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

ROW_INCHES, HEAD_INCHES = 0.165, 0.95
# Of what is found, and of what is accused: the more, the darker.
FOUND, ACCUSED = (0.0, 0.447, 0.698), (0.835, 0.369, 0.0)
# Families in the order of their list; others come last.
ORDER = ("user code", "library", "framework", "compiler")
OTHER = "other"
Cell = tuple[int, int]


def draw_matrix(
    outcomes: "pd.DataFrame", scores: "pd.DataFrame", families: Mapping[str, str], path: Path
) -> Path:
    """Draw the cases found and not accused when fixed, by family, beside the false alarms; as wide as a column."""
    parts = {key: with_twins(group) for key, group in outcomes.groupby(ROW)}
    present = {families.get(bug, OTHER) for bug in outcomes.bug[outcomes.kind == "buggy"]}
    shown = [name for name in (*ORDER, OTHER) if name in present] + sorted(
        present - {*ORDER, OTHER}
    )
    with column():
        figure = new_figure(1)
        figure.set_size_inches(COLUMN_INCHES, HEAD_INCHES + ROW_INCHES * len(scores))
        axes = figure.subplots()
        for y, (_, row) in enumerate(scores.iterrows()):
            hits = [_hits(parts[tuple(row[ROW])], families, name) for name in shown]
            accused = [(row[name], row[f"{name}_n"]) for name in ("false_fixed", "false_controls")]
            for x, (cell, colour) in enumerate(
                [*((c, FOUND) for c in hits), *((c, ACCUSED) for c in accused)]
            ):
                _cell(axes, x + (x >= len(shown)) * 0.25, y, cell, colour)
        places = [*range(len(shown)), len(shown) + 0.25, len(shown) + 1.25]
        _label(
            axes,
            [label(row) for _, row in scores.iterrows()],
            places,
            [*shown, "fixed", "controls"],
        )
        return save(figure, path)


def _hits(buggy: "pd.DataFrame", families: Mapping[str, str], name: str) -> Cell:
    cases = buggy[~buggy.benign & (buggy.bug.map(lambda bug: families.get(bug, OTHER)) == name)]
    return int(cases.paired.sum()), len(cases)


def _cell(axes: "Axes", x: float, y: int, cell: Cell, colour: tuple[float, float, float]) -> None:
    from matplotlib.patches import Rectangle

    count, n = int(cell[0]), int(cell[1])
    face: Any = (*colour, 0.12 + 0.6 * count / n) if count else "#F3F3F3"
    axes.add_patch(
        Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, facecolor=face if n else "none", linewidth=0)
    )
    axes.text(x, y, f"{count}/{n}" if n else "-", ha="center", va="center_baseline", fontsize=5.5)


def _label(axes: "Axes", rows: list[str], places: list[float], names: list[str]) -> None:
    bare_grid(axes)
    axes.set_xlim(-0.5, places[-1] + 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(places, names, rotation=35, ha="left", rotation_mode="anchor", fontsize=7)
    axes.set_yticks(range(len(rows)), rows, fontsize=6.5)
    axes.xaxis.tick_top()
    axes.set_xlabel(
        "blue: cases found, silent on the fixed twin\norange: right programs accused", fontsize=7
    )
