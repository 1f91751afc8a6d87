"""Detection against false alarms, with intervals: each detector by its own setting,
on the same programs.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.scoring.outcomes import label
from evaluation.scoring.report import unusual_rows
from plots.style import COLUMN_INCHES, SINGLE, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Place = tuple[float, float]
LINE_INCHES = 0.125
# Below this rate labels would cover each other on the right.
CROWDED = 0.02
# A label would cover another point that is this close to the right of its own point, and above.
LABEL = (0.08, 0.06)
# From one label to the next above it.
LINE = 0.045
# How far left of its point the label of a detector without false alarms is, and the line between
# them.
LEFT = 0.05
# Points below these rates lie close together, if they are more than a few.
LOW, FEW = (0.3, 0.13), 3


def rates_figure(outcomes: "pd.DataFrame", scores: "pd.DataFrame") -> "Figure | None":
    """A numbered point for each row of the scores, and the names below; as wide as a column.

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
    key = [f"{number}  {name}" for number, name in enumerate(drawn.label, 1)]
    lines = (len(key) + 1) // 2
    key_inches = (lines + 1.8) * LINE_INCHES
    figure = new_figure(1)
    figure.set_size_inches(COLUMN_INCHES, 3.0 + key_inches)
    axes = figure.subplots()
    draw_points(axes, drawn)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.7, linestyle=":", zorder=0)
    axes.set(xlim=(-0.25, 1.03), ylim=(-0.07, 1.03), aspect="equal")
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel("false alarms: fixed twins accused")
    axes.set_ylabel("detection: buggy programs")
    note = "hollow: with clean runs"
    if elsewhere:
        note += f"; {len(elsewhere)} of other programs not drawn"
    # Columns of the same length, so that their first lines are at the same height.
    padding = [""] * (len(key) % 2)
    texts = {0.02: [*key[:lines], note], 0.54: [*key[lines:], *padding, ""]}
    for x, part in texts.items():
        figure.text(x, 0.01, "\n".join(part), fontsize=6.5, va="bottom", linespacing=1.3)
    below = key_inches / figure.get_figheight()
    figure.set_layout_engine("constrained", rect=(0, below, 1, 1 - below))
    return figure


def draw_points(axes: "Axes", drawn: "pd.DataFrame") -> None:
    """Points with their intervals. Points at the same place share a label."""
    filled: dict[Place, bool] = {}
    for _, row in drawn.iterrows():
        x, y = row.false_fixed_rate, row.detected_rate
        horizontal = [row.false_fixed_low, row.false_fixed_high]
        vertical = [row.detected_low, row.detected_high]
        axes.plot(horizontal, [y, y], color=SINGLE[0], alpha=0.25, linewidth=1)
        axes.plot([x, x], vertical, color=SINGLE[0], alpha=0.25, linewidth=1)
        filled[x, y] = filled.get((x, y), False) or row.references == "none"
    numbers: dict[Place, list[str]] = defaultdict(list)
    for number, (_, row) in enumerate(drawn.iterrows(), 1):
        numbers[row.false_fixed_rate, row.detected_rate].append(str(number))
    # On the left there is room for the labels of detectors without false alarms.
    crowded = sorted((place for place in numbers if place[0] < CROWDED), key=itemgetter(1))
    label_places = _column([height for _, height in crowded], -LEFT, crowded)
    # The others that find little lie close together: their labels have a column on the right.
    low = [place for place in numbers if place[0] >= CROWDED and place[0] < LOW[0]]
    low = sorted((place for place in low if place[1] < LOW[1]), key=_slope)
    if len(low) > FEW:
        label_places |= _column([-LINE / 2] * len(low), LOW[0] + 1.4 * LEFT, low)
    for place, names in numbers.items():
        inside = SINGLE[0] if filled[place] else "white"
        axes.plot(*place, "o", color=SINGLE[0], markerfacecolor=inside, markersize=3.5)
        text = ",".join(names)
        if place in label_places:
            x, y = label_places[place]
            axes.plot([place[0], x], [place[1], y], color="black", linewidth=0.4, zorder=1)
            side = "right" if x < place[0] else "left"
            axes.text(x, y, text, fontsize=7, ha=side, va="center")
        else:
            offset = (4, _lift(place, numbers))
            look: dict[str, Any] = {"textcoords": "offset points", "ha": "left"}
            axes.annotate(text, place, offset, fontsize=7, **look)


def _column(heights: Sequence[float], x: float, points: Sequence[Place]) -> dict[Place, Place]:
    """The places of labels that stand above each other, near these heights, by their points."""
    return {place: (x, height) for place, height in zip(points, apart(heights), strict=True)}


def _slope(place: Place) -> float:
    """Orders points for a column on their right, so that few leaders cross."""
    return place[1] - place[0] / 3


def _lift(place: Place, points: Iterable[Place]) -> int:
    """How many dots a label is above its point: below zero where it would cover something above."""
    if place[1] == 0:
        return -5
    return -7 if _covers(place, points) else 2


def apart(heights: Sequence[float]) -> list[float]:
    """Heights of the labels of points at these heights, from the lowest on.

    The first label is half a LINE below its point. Every other one is as high as its point, but at
    least a LINE above the label before it.
    """
    labels: list[float] = []
    for height in heights:
        if labels:
            labels.append(max(height, labels[-1] + LINE))
        else:
            labels.append(height - LINE / 2)
    return labels


def _covers(place: Place, points: Iterable[Place]) -> bool:
    """Whether a label up and to the right of a place would cover another point, or the label of a
    point a little above.
    """
    away = [(x - place[0], y - place[1]) for x, y in points if (x, y) != place]
    width, height = LABEL
    is_covered = any(0 <= right < width and 0 <= up < height for right, up in away)
    return is_covered or any(-width < right < 0 < up < 1.5 * height for right, up in away)
