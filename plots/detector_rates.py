"""Detection against false alarms, with intervals: each detector's best rule, on the same programs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.scoring.report import unusual_rows
from evaluation.scoring.scores import label
from plots.style import COLUMN_INCHES, SINGLE, column, new_figure, save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LINE_INCHES = 0.125
# Below this rate labels would cover each other on the right.
CROWDED = 0.02
# So far to the right of a point, and above it, its label would cover another one.
LABEL = (0.08, 0.06)
# From one label to the next above it.
LINE = 0.045
# How far on the left of their points labels are that accuse nothing, and the line from one to the other.
LEFT = 0.05
LEADER = {"arrowstyle": "-", "linewidth": 0.4, "color": "black", "shrinkA": 0, "shrinkB": 2}


def draw_rates(outcomes: "pd.DataFrame", scores: "pd.DataFrame", path: Path) -> Path | None:
    """Draw a numbered point for each detector's rule with most of PAIRED, and the names below; as wide as a column.

    Rules that know different bugs, as the sanitizer's two, have a point each. Rows that met other programs than most
    are only named. None where no fixed twin ran.
    """
    elsewhere = unusual_rows(outcomes)
    names = scores.apply(label, axis=1)
    comparable = scores.assign(label=names)[~names.isin(elsewhere) & (scores.false_fixed_n > 0)]
    one_of = ["detector", "references", "paired_known_n"]
    best = comparable.sort_values("paired", ascending=False, kind="stable").drop_duplicates(one_of)
    best = best.sort_values(
        ["detected_rate", "false_fixed_rate"], ascending=[False, True]
    ).reset_index(drop=True)
    if best.empty:
        return None
    key = [f"{number}  {name}" for number, name in enumerate(best.label, 1)]
    lines = (len(key) + 1) // 2
    with column():
        figure = new_figure(1)
        figure.set_size_inches(COLUMN_INCHES, 3.0 + LINE_INCHES * (lines + 1.8))
        axes = figure.subplots()
        draw_points(axes, best)
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.7, linestyle=":", zorder=0)
        axes.set(xlim=(-0.25, 1.03), ylim=(-0.05, 1.03), aspect="equal")
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
        axes.set_xlabel("false alarms: fixed twins accused")
        axes.set_ylabel("detection: buggy programs")
        note = (
            f"rows not drawn, since they met other programs: {len(elsewhere)}" if elsewhere else ""
        )
        texts = {0.02: [*key[:lines], note], 0.54: [*key[lines:], *[""] * (len(key) % 2), ""]}
        for x, part in texts.items():
            figure.text(x, 0.01, "\n".join(part), fontsize=6.5, va="bottom", linespacing=1.3)
        below = (lines + 1.8) * LINE_INCHES / figure.get_figheight()
        figure.set_layout_engine("constrained", rect=(0, below, 1, 1 - below))
        return save(figure, path)


def draw_points(axes: "Axes", best: "pd.DataFrame") -> None:
    """Points with their intervals; those at one place share a label."""
    for _, row in best.iterrows():
        x, y = row.false_fixed_rate, row.detected_rate
        across, up = (
            [row.false_fixed_low, row.false_fixed_high],
            [row.detected_low, row.detected_high],
        )
        axes.plot(across, [y, y], color=SINGLE[0], alpha=0.25, linewidth=1)
        axes.plot([x, x], up, color=SINGLE[0], alpha=0.25, linewidth=1)
    numbers = defaultdict(list)
    for number, (_, row) in enumerate(best.iterrows(), 1):
        numbers[row.false_fixed_rate, row.detected_rate].append(str(number))
    # On the left there is room for those that accuse nothing.
    left = sorted((place for place in numbers if place[0] < CROWDED), key=itemgetter(1))
    heights = dict(zip(left, apart([up for _, up in left]), strict=True))
    for place, of in numbers.items():
        axes.plot(*place, "o", color=SINGLE[0], markersize=3.5)
        if place in heights:
            label_place = place[0] - LEFT, heights[place]
            axes.annotate(
                ",".join(of),
                place,
                label_place,
                ha="right",
                va="center",
                fontsize=7,
                arrowprops=LEADER,
            )
            continue
        lift = -5 if place[1] == 0 else -7 if _covers(place, numbers) else 2
        axes.annotate(
            ",".join(of), place, (4, lift), textcoords="offset points", ha="left", fontsize=7
        )


def apart(heights: Sequence[float]) -> list[float]:
    """Heights of labels, from the lowest on: the first half a LINE below its own, the others each at its own.

    Where that is taken, it is a LINE above the label below it.
    """
    put: list[float] = []
    for height in heights:
        put.append(max(height, put[-1] + LINE) if put else height - LINE / 2)
    return put


def _covers(place: tuple[float, float], points: Iterable[tuple[float, float]]) -> bool:
    """Whether a label up and to the right of a place would cover another point."""
    away = [(x - place[0], y - place[1]) for x, y in points if (x, y) != place]
    return any(0 <= right < LABEL[0] and 0 <= up < LABEL[1] for right, up in away)
