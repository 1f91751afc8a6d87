"""Detection against false alarms, with intervals: each detector by its own setting,
on the same programs.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.scoring.outcomes import label
from evaluation.scoring.report import unusual_rows
from plots.label_places import Box, place_labels
from plots.style import COLUMN_INCHES, SINGLE, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Place = tuple[float, float]
# A row that accuses at most this share of the fixed programs is careful.
CAREFUL_RATE = 0.05
# So many rows have names because they find the most.
MOST = 5
LINE_INCHES = 0.125
# Room for the labels of the axes on the left and below, and the sides of the square.
LEFT_INCHES, BELOW_INCHES, SIDE_INCHES = 0.5, 0.45, 2.92
LABEL_SIZE, TITLE_SIZE = 6.5, 7.5
LOOK: dict[str, Any] = {"fontsize": LABEL_SIZE, "linespacing": 1.1}
NAMED, NUMBERED = SINGLE[0], "#7A7A7A"
TICKS = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1)
# The limits of both axes: a little room below 0, on the scale of square roots.
LIMITS = (-0.0025, 1.07)
POINTS_AN_INCH = 72


def rates_figure(outcomes: "pd.DataFrame", scores: "pd.DataFrame") -> "Figure | None":
    """A point for each row of the scores, as wide as a column: the names of rows that matter
    beside their points, the others numbered, with their names below.

    Points are hollow where a detector learnt from clean runs. Negative controls are left out, and
    rows that met other programs than most are only counted. None where no fixed twin ran.
    """
    elsewhere = unusual_rows(outcomes)
    names = scores.apply(label, axis=1)
    is_control = scores.detector.isin(NEGATIVE_CONTROLS)
    is_comparable = ~names.isin(elsewhere) & (scores.false_fixed_n > 0) & ~is_control
    drawn = scores.assign(label=names)[is_comparable]
    if drawn.empty:
        return None
    drawn = drawn.sort_values(
        ["detected_rate", "false_fixed_rate"], ascending=[False, True], kind="stable"
    )
    drawn = drawn.assign(is_named=have_names(drawn))
    numbered = drawn.label[~drawn.is_named]
    key = [f"{number}  {name}" for number, name in enumerate(numbered, 1)]
    notes = ["hollow: with clean runs", f"shaded: at most {100 * CAREFUL_RATE:g} % accused"]
    if elsewhere:
        notes.append(f"{len(elsewhere)} of other programs not drawn")
    figure, axes = _square(key, notes)
    _scale(axes)
    draw_points(axes, drawn)
    return figure


def have_names(drawn: "pd.DataFrame") -> "pd.Series[bool]":
    """Whether a row has its name beside its point: it finds something and is careful, or it is one
    of those that find the most.
    """
    finds = drawn.paired > 0
    most = drawn[finds].nlargest(MOST, "paired", keep="all")
    is_careful = drawn.false_fixed_rate <= CAREFUL_RATE
    return (finds & is_careful) | drawn.index.isin(most.index)


def _square(key: Sequence[str], notes: Sequence[str]) -> "tuple[Figure, Axes]":
    """A figure with square axes, and below them the notes and the names of numbers in two
    columns.
    """
    lines = (len(key) + 1) // 2
    key_inches = (max(lines, 1) + len(notes) / 2 + 0.4) * LINE_INCHES
    height = key_inches + BELOW_INCHES + SIDE_INCHES + 0.06
    figure = new_figure(1)
    figure.set_layout_engine("none")
    figure.set_size_inches(COLUMN_INCHES, height)
    sides = (SIDE_INCHES / COLUMN_INCHES, SIDE_INCHES / height)
    corner = (LEFT_INCHES / COLUMN_INCHES, (key_inches + BELOW_INCHES) / height)
    axes = figure.add_axes((*corner, *sides))
    # Columns of the same length, so that their first lines are at the same height.
    padding = [""] * (len(key) % 2)
    columns = [[*key[:lines], *notes[::2]], [*key[lines:], *padding, *notes[1::2]]]
    longest = max(map(len, columns))
    for x, column in zip((0.02, 0.54), columns, strict=True):
        text = "\n".join([*column, *[""] * (longest - len(column))])
        figure.text(x, 0.01, text, fontsize=LABEL_SIZE, va="bottom", linespacing=1.3)
    return figure, axes


def _scale(axes: "Axes") -> None:
    """Axes on which low rates, where most rows are, have more room than high ones."""
    import numpy as np

    def root(rates: Any) -> Any:
        return np.sign(rates) * np.sqrt(np.abs(rates))

    def square(roots: Any) -> Any:
        return np.sign(roots) * np.square(roots)

    axes.set_xscale("function", functions=(root, square))
    axes.set_yscale("function", functions=(root, square))
    axes.set(xlim=LIMITS, ylim=LIMITS)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.tick_params(labelsize=LABEL_SIZE)
    axes.set_xlabel("false alarms: fixed twins accused (square-root scale)", fontsize=TITLE_SIZE)
    axes.set_ylabel("detection: buggy programs (square-root scale)", fontsize=TITLE_SIZE)
    axes.axvspan(LIMITS[0], CAREFUL_RATE, color="black", alpha=0.05, linewidth=0, zorder=0)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.7, linestyle=":", zorder=0)


def draw_points(axes: "Axes", drawn: "pd.DataFrame") -> None:
    """Points with their intervals and labels. Points at the same place share a label."""
    for _, row in drawn.iterrows():
        colour = NAMED if row.is_named else NUMBERED
        x, y = row.false_fixed_rate, row.detected_rate
        horizontal = [row.false_fixed_low, row.false_fixed_high]
        vertical = [row.detected_low, row.detected_high]
        axes.plot(horizontal, [y, y], color=colour, alpha=0.2, linewidth=0.8)
        axes.plot([x, x], vertical, color=colour, alpha=0.2, linewidth=0.8)
    filled: dict[Place, bool] = defaultdict(bool)
    colours: dict[Place, str] = {}
    for _, row in drawn.iterrows():
        place = (row.false_fixed_rate, row.detected_rate)
        filled[place] = filled[place] or row.references == "none"
        if row.is_named or place not in colours:
            colours[place] = NAMED if row.is_named else NUMBERED
    for place, colour in colours.items():
        inside = colour if filled[place] else "white"
        axes.plot(*place, "o", color=colour, markerfacecolor=inside, markersize=3.5)
    _draw_labels(axes, point_labels(drawn))


def point_labels(drawn: "pd.DataFrame") -> dict[Place, str]:
    """The label of each place: a line for each name, and one for the numbers of other rows."""
    names: dict[Place, list[str]] = defaultdict(list)
    numbers: dict[Place, list[str]] = defaultdict(list)
    number = 0
    for _, row in drawn.iterrows():
        place = (row.false_fixed_rate, row.detected_rate)
        if row.is_named:
            names[place].append(row.label)
        else:
            number += 1
            numbers[place].append(str(number))
    # Names come first, since they need more room.
    places = [*names, *(place for place in numbers if place not in names)]
    lines = {place: [*names[place], ",".join(numbers[place])] for place in places}
    return {place: "\n".join(filter(None, parts)) for place, parts in lines.items()}


def _draw_labels(axes: "Axes", labels: Mapping[Place, str]) -> None:
    """Write labels beside points, with leaders to those that are farther away."""
    figure: Any = axes.figure
    to_points = POINTS_AN_INCH / figure.dpi
    sizes = [_size(axes, text, to_points) for text in labels.values()]
    points = [tuple(axes.transData.transform(place) * to_points) for place in labels]
    frame = Box(*(axes.bbox.extents * to_points))
    label_places = place_labels(points, sizes, frame)
    look: dict[str, Any] = LOOK | {"textcoords": "offset points", "ha": "center", "va": "center"}
    line = {"arrowstyle": "-", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0}
    for place, point, label_place in zip(labels, points, label_places, strict=True):
        axes.annotate(labels[place], place, _away(label_place.centre, point), **look)
        if label_place.leader_end:
            end = _away(label_place.leader_end, point)
            axes.annotate("", place, end, textcoords="offset points", arrowprops=line)


def _away(place: Place, point: Place) -> Place:
    return place[0] - point[0], place[1] - point[1]


def _size(axes: "Axes", text: str, to_points: float) -> tuple[float, float]:
    """Width and height of a text in points of type, with some air."""
    drawn = axes.text(0, 0, text, **LOOK)
    box = drawn.get_window_extent()
    drawn.remove()
    return box.width * to_points + 1, box.height * to_points + 1
