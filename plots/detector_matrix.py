"""The matrix of detectors by locations of bugs: cases that each one finds,
and right programs that it accuses.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evaluation.scoring.outcomes import ROW, label, with_twins
from plots.style import COLUMN_INCHES, bare_grid, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_INCHES, HEAD_INCHES = 0.165, 0.95
# Colours of cells with found bugs and with accused programs: the more, the darker.
FOUND, ACCUSED = (0.0, 0.447, 0.698), (0.835, 0.369, 0.0)
# Families in the order of their list; others come last.
ORDER = ("user code", "library", "framework", "compiler")
OTHER = "other"
Cell = tuple[int, int]


def matrix_figure(
    outcomes: "pd.DataFrame", scores: "pd.DataFrame", locations: Mapping[str, str]
) -> "Figure":
    """The cases found and not accused when fixed, by location, beside the false alarms;
    as wide as a column.
    """
    all_buggy = with_twins(outcomes)
    parts = {key: group for key, group in all_buggy.groupby(ROW)}
    present = {locations.get(bug, OTHER) for bug in outcomes.bug[outcomes.kind == "buggy"]}
    shown = [name for name in (*ORDER, OTHER) if name in present]
    shown += sorted(present - {*ORDER, OTHER})
    figure = new_figure(1)
    figure.set_size_inches(COLUMN_INCHES, HEAD_INCHES + ROW_INCHES * len(scores))
    axes = figure.subplots()
    # Apart from the locations, since they count something else.
    right_places = [len(shown) + 0.25, len(shown) + 1.25]
    for y, (_, row) in enumerate(scores.iterrows()):
        buggy = parts.get(tuple(row[ROW]), all_buggy.iloc[:0])
        for x, location in enumerate(shown):
            _cell(axes, x, y, _hits(buggy, locations, location), FOUND)
        for right, name in zip(right_places, ("false_fixed", "false_controls"), strict=True):
            _cell(axes, right, y, (row[name], row[f"{name}_n"]), ACCUSED)
    rows = [label(row) for _, row in scores.iterrows()]
    places = [*range(len(shown)), *right_places]
    _label(axes, rows, places, [*shown, "fixed", "controls"])
    return figure


def _hits(buggy: "pd.DataFrame", locations: Mapping[str, str], name: str) -> Cell:
    location = buggy.bug.map(lambda bug: locations.get(bug, OTHER))
    cases = buggy[~buggy.benign & (location == name)]
    return int(cases.paired.sum()), len(cases)


def _cell(axes: "Axes", x: float, y: int, cell: Cell, colour: tuple[float, float, float]) -> None:
    from matplotlib.patches import Rectangle

    count, total = int(cell[0]), int(cell[1])
    face: Any = "none"
    if total:
        face = (*colour, 0.12 + 0.6 * count / total) if count else "#F3F3F3"
    corner = (x - 0.47, y - 0.45)
    axes.add_patch(Rectangle(corner, 0.94, 0.9, facecolor=face, linewidth=0))
    text = f"{count}/{total}" if total else "-"
    axes.text(x, y, text, ha="center", va="center_baseline", fontsize=5.5)


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
