"""Delays as a distribution: from the iteration in which the fault first acts to the first alarm,
hit by hit.
"""

from typing import TYPE_CHECKING

from evaluation.scoring.outcomes import ROW, label
from plots.style import COLOURS, COLUMN_INCHES, SINGLE, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_INCHES, MARGIN_INCHES = 0.19, 0.85


def delays_figure(outcomes: "pd.DataFrame", scores: "pd.DataFrame") -> "Figure | None":
    """A point for each alarm on a buggy program, and the median of hits;
    None where no alarm has an iteration.

    A filled point has the iteration that the launcher stamped in the process of the monitor, an
    open point the one that the tool claims. Alarms before the trigger are no hits.
    """
    alarms = outcomes[(outcomes.kind == "buggy") & outcomes.alarmed & ~outcomes.benign]
    delays = alarms.delay.fillna(alarms.claimed_delay)
    alarms = alarms.assign(when=delays).dropna(subset=["when"])
    by_row = dict(list(alarms.groupby(ROW)))
    shown = [row for _, row in scores.iterrows() if tuple(row[ROW]) in by_row]
    if not shown:
        return None
    figure = new_figure(1)
    figure.set_size_inches(COLUMN_INCHES, MARGIN_INCHES + ROW_INCHES * len(shown))
    axes = figure.subplots()
    for y, row in enumerate(shown):
        _row(axes, y, by_row[tuple(row[ROW])])
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_xscale("symlog", linthresh=1, linscale=0.5)
    axes.margins(x=0.04)
    ticks = list(axes.get_xticks())
    if max(map(abs, ticks)) > 1:
        # The labels of 1 and -1 would touch the label of 0.
        ticks = [tick for tick in ticks if abs(tick) != 1]
    axes.set_xticks(ticks)
    axes.tick_params(axis="x", labelsize=6)
    axes.set_yticks(range(len(shown)), [label(row) for row in shown], fontsize=6.5)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    text = (
        "iterations from the trigger to the first alarm,\n"
        "claimed by the monitor's process\n"
        "(orange: before it; bar: median;\n"
        "open: claimed by the tool itself)"
    )
    axes.set_xlabel(text, fontsize=6)
    return figure


def _row(axes: "Axes", y: int, alarms: "pd.DataFrame") -> None:
    when = alarms.when.astype(float)
    for part, colour in ((alarms.early, COLOURS["buggy"]), (~alarms.early, SINGLE[0])):
        for stamped, face in ((alarms.delay.notna(), colour), (alarms.delay.isna(), "none")):
            x = when[part & stamped].sort_values()
            # Equal delays lie one above the other.
            lift: list[int] = x.groupby(x).cumcount().tolist()
            heights = [y - 0.04 * min(n, 10) + 0.15 for n in lift]
            axes.plot(
                x,
                heights,
                "o",
                markersize=3,
                mec=colour,
                mfc=face,
                mew=0.6,
            )
    hits = when[~alarms.early]
    if len(hits):
        axes.plot([hits.median()] * 2, [y - 0.35, y + 0.35], color="black", linewidth=1.2)
