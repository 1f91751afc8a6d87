"""Training curves of a case: each variant by itself, and buggy over fixed,
with the range over seeds.
"""

import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from plots.style import (
    COLOURS,
    COLUMN_INCHES,
    PREFIX,
    SINGLE,
    Only,
    finished_runs,
    give_title,
    new_figure,
    save,
    seeds_text,
    styled,
)
from runner.bugs.case import Case
from runner.bugs.figures import Line, Panel
from runner.bugs.program import VARIANTS
from runner.errors import MeasureError
from runner.expectations.series import measure, select
from runner.results.record import RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

SMALL = 12
# Height of a row of panels on paper, and of each line of a legend above it.
PAPER_ROW_INCHES, LEGEND_LINE_INCHES = 1.65, 0.14
# Characters of a line of a label beside such a panel.
PAPER_LABEL = 25
# A logarithmic axis that is shorter than this (largest by smallest) has plain numbers, and one that
# is longer has powers of ten.
SHORT_AXIS, LONG_AXIS = 4.0, 200.0
# With less than this between the largest and the smallest value it is no logarithmic axis.
FLAT = 1.3
# Line styles of a panel's lines, in turn, and what else is common to those that config.json calls
# dashed.
SOLID = ("-", (0, (1, 1.2)), (0, (6, 1.5)))
DASHED = ("--", (0, (1, 1)), "-.")
PALE = {"linewidth": 2.2, "alpha": 0.5, "zorder": 4}
CLEAR = {"linewidth": 1.5, "zorder": 5}
MARKERS = ("o", "s", "^", "D")


def draw_case(
    case: Case,
    records: Sequence[RunRecord],
    directory: Path,
    kind: str,
    only: Only = lambda name: True,
) -> list[Path]:
    """Draw a case into `directory`, from its finished runs; `kind` is png,
    pdf or svg. Returns the files written.

    origin_<case> and fix_<case> show one variant, compare_<case> shows both in the same axes;
    `only` chooses by these names. Raises MeasureError where a metric is missing or not a number, or
    the runs of a variant differ in length.
    """
    finished = finished_runs(records)
    figures: dict[str, Figure] = {}
    with styled():
        for variant, runs in finished.items():
            if runs:
                figures[f"{PREFIX[variant]}_{case.name}"] = _single(case, variant, runs)
        if all(finished.values()):
            all_runs = list(chain.from_iterable(finished.values()))
            figures[f"compare_{case.name}"] = compare(case, all_runs)
        return [
            save(figure, directory / f"{name}.{kind}")
            for name, figure in figures.items()
            if only(name)
        ]


def _single(case: Case, variant: str, runs: Sequence[RunRecord]) -> "Figure":
    figure = new_figure(len(case.plot.panels))
    for axes, panel in zip(_axes(figure, case), case.plot.panels, strict=True):
        looks = _looks(panel)
        for index, line in enumerate(panel.lines):
            colour = SINGLE[index % len(SINGLE)]
            look = {"color": colour, **looks[index]}
            _plot(axes, case, line, variant, runs, look, line.label)
        _finish(axes, panel)
    give_title(figure, f"{case.id}, {variant}{seeds_text(runs)}")
    return figure


def compare(case: Case, records: Sequence[RunRecord]) -> "Figure":
    """Both variants in the same axes, from finished runs of both;
    raises MeasureError as `draw_case` does.
    """
    figure = new_figure(len(case.plot.panels))
    _compare_in(_axes(figure, case), case, records)
    benign = ", benign" if case.benign else ""
    give_title(figure, f"{case.id}: buggy and fixed{benign}{seeds_text(records)}")
    return figure


def compare_on_paper(case: Case, records: Sequence[RunRecord], columns: int) -> "Figure":
    """Both variants in the same axes, 3.5 inches wide for each of 1 or 2 columns of a paper.

    It has no title, which is for the caption. Raises MeasureError as `draw_case` does.
    """
    rows = math.ceil(len(case.plot.panels) / columns)
    figure = new_figure(1)
    row_inches = PAPER_ROW_INCHES + LEGEND_LINE_INCHES * max(map(_legend_lines, case.plot.panels))
    figure.set_size_inches(COLUMN_INCHES * columns, row_inches * rows)
    panel_axes = _axes(figure, case, columns)
    _compare_in(panel_axes, case, records)
    for axes, panel in zip(panel_axes, case.plot.panels, strict=True):
        axes.set_ylabel("\n".join(wrap(panel.label, PAPER_LABEL)))
        _narrow_legend(axes, panel)
    return figure


def _narrow_legend(axes: "Axes", panel: Panel) -> None:
    """One name a line in a legend whose names are too long for two beside each other."""
    if _is_narrow(panel):
        _add_legend(axes, 1)


def _is_narrow(panel: Panel) -> bool:
    names = [line.label or "" for line in panel.lines]
    longest = max(map(len, names)) if len(names) > 1 else 0
    return len("buggy, ") + longest > PAPER_LABEL


def _legend_lines(panel: Panel) -> int:
    """How many lines the legend of a panel has on paper."""
    names = len(VARIANTS) * len(panel.lines)
    return names if _is_narrow(panel) else math.ceil(names / 2)


def _compare_in(panel_axes: "Sequence[Axes]", case: Case, records: Sequence[RunRecord]) -> None:
    runs = finished_runs(records)
    for axes, panel in zip(panel_axes, case.plot.panels, strict=True):
        has_one_line = len(panel.lines) == 1
        for line, look in zip(panel.lines, _looks(panel), strict=True):
            for variant in VARIANTS:
                label = variant if has_one_line else f"{variant}, {line.label}"
                variant_look = _variant_look(look, variant)
                _plot(axes, case, line, variant, runs[variant], variant_look, label)
        _finish(axes, panel)


def _axes(figure: "Figure", case: Case, columns: int | None = None) -> "list[Axes]":
    """Axes for each panel, in rows of so many; in one row by default."""
    panels = len(case.plot.panels)
    columns = columns or panels
    grid = figure.subplots(math.ceil(panels / columns), columns, squeeze=False)
    for axes in grid.flat[:panels]:
        axes.set_xlabel(case.plot.x)
    for axes in grid.flat[panels:]:
        axes.remove()
    return list(grid.flat[:panels])


def _plot(
    axes: "Axes",
    case: Case,
    line: Line,
    variant: str,
    runs: Sequence[RunRecord],
    look: dict[str, Any],
    label: str,
) -> None:
    """Draw the mean over the seeds, with their range as a band."""
    x, y = _curves(case, line, variant, runs)
    marker = look["marker"] if len(x) <= SMALL else None
    stroke = {**look, "marker": marker}
    axes.plot(x, y.mean(axis=0), markersize=3.5, label=label, **stroke)
    if len(y) > 1:
        low, high = y.min(axis=0), y.max(axis=0)
        axes.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)


def _looks(panel: Panel) -> list[dict[str, Any]]:
    """The line style and the marker of each line of a panel: no two are the same.

    Dashed lines lie below, wide and pale, so that a line on top of one does not hide it.
    """
    looks: list[dict[str, Any]] = []
    for line in panel.lines:
        styles, stroke = (DASHED, PALE) if line.dashed else (SOLID, CLEAR)
        number = sum(look["linestyle"] in styles for look in looks) % len(styles)
        marker = MARKERS[len(looks) % len(MARKERS)]
        looks.append({"linestyle": styles[number], "marker": marker, **stroke})
    return looks


def _variant_look(look: dict[str, Any], variant: str) -> dict[str, Any]:
    """The look in the colour of a variant. Fixed is wide and lies below,
    so that you see both where they meet.
    """
    coloured = {**look, "color": COLOURS[variant]}
    if variant != "fixed":
        return coloured
    return {**coloured, "linewidth": 1.8 * look["linewidth"], "zorder": look["zorder"] - 2}


def _curves(
    case: Case, line: Line, variant: str, runs: Sequence[RunRecord]
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """x of shape (records,) and y of shape (seeds, records);
    raises MeasureError where seeds differ in length.
    """
    metrics = [record.metrics for record in runs]
    x = [select(case.plot.x, line.where, records, variant) for records in metrics]
    y = [measure(line, variant, {variant: records}) for records in metrics]
    lengths = {len(row) for row in (*x, *y)}
    if len(lengths) > 1:
        raise MeasureError(f"{variant} runs differ in the number of records of {line.metric!r}")
    return np.asarray(x[0], dtype=np.float64), np.asarray(y, dtype=np.float64)


def _finish(axes: "Axes", panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_ylabel(panel.label)
    axes.set_yscale(panel.scale)
    if panel.scale == "log":
        _label_log_axis(axes)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if all(_has_integers(line) for line in axes.lines):
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _add_legend(axes, 2 if len(panel.lines) > 1 else len(axes.lines))


def _add_legend(axes: "Axes", columns: int) -> None:
    """A legend above the axes: data may be anywhere in them."""
    has_variants_alone = len(axes.lines) <= len(VARIANTS)
    axes.legend(
        ncols=columns,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        # Long enough to show how a line is broken.
        handlelength=None if has_variants_alone else 2.2,
    )


def _label_log_axis(axes: "Axes") -> None:
    """Ticks with room for their labels: matplotlib's own cover each other on short axes."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    low, high = axes.dataLim.minposy, axes.dataLim.ymax
    if high < FLAT * low:
        axes.set_yscale("linear")
        return
    axes.yaxis.set_minor_formatter(NullFormatter())
    if high > LONG_AXIS * low:
        return
    if high < SHORT_AXIS * low:
        axes.yaxis.set_major_locator(MaxNLocator(4))
    else:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")


def _has_integers(line: "Line2D") -> bool:
    """Whether all heights of a drawn line are whole numbers."""
    return all(float(height).is_integer() for height in np.asarray(line.get_ydata()))
