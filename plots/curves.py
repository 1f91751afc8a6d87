"""Training curves of a case: each variant by itself, and buggy over fixed, with the range over seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plots.style import COLOURS, PREFIX, SINGLE, Only, new_figure, save, seeds_text, styled
from runner.bugs.case import Case
from runner.bugs.figures import Line, Panel
from runner.bugs.program import VARIANTS
from runner.errors import MeasureError
from runner.expectations.series import measure, select
from runner.results.record import RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

SMALL = 12
# Line styles of a panel's lines, in turn, and what else is common to those that config.json calls dashed.
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
    """Draw a case into `directory`, from its finished runs; `kind` is png, pdf or svg. Returns the files written.

    origin_<case> and fix_<case> show one variant, compare_<case> shows both in the same axes; `only` chooses by these
    names. Raises MeasureError where a metric is missing or not a number, or the runs of a variant differ in length.
    """
    done = {variant: [r for r in records if r.ok and r.variant == variant] for variant in VARIANTS}
    with styled():
        figures = {
            f"{PREFIX[variant]}_{case.name}": _single(case, variant, runs)
            for variant, runs in done.items()
            if runs
        }
        if all(done.values()):
            figures[f"compare_{case.name}"] = compare(
                case, [record for runs in done.values() for record in runs]
            )
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
            _plot(
                axes,
                case,
                line,
                variant,
                runs,
                {"color": SINGLE[index % len(SINGLE)], **looks[index]},
                line.label,
            )
        _finish(axes, panel)
    figure.suptitle(f"{case.id}, {variant}{seeds_text(runs)}")
    return figure


def compare(case: Case, records: Sequence[RunRecord]) -> "Figure":
    """Both variants in the same axes, from finished runs of both; raises MeasureError as `draw_case` does."""
    figure = new_figure(len(case.plot.panels))
    for axes, panel in zip(_axes(figure, case), case.plot.panels, strict=True):
        for line, look in zip(panel.lines, _looks(panel), strict=True):
            for variant in VARIANTS:
                runs = [record for record in records if record.variant == variant]
                label = variant if len(panel.lines) == 1 else f"{variant}, {line.label}"
                _plot(axes, case, line, variant, runs, _variant_look(look, variant), label)
        _finish(axes, panel)
    benign = ", benign" if case.benign else ""
    figure.suptitle(f"{case.id}: buggy and fixed{benign}{seeds_text(records)}")
    return figure


def _axes(figure: "Figure", case: Case) -> "list[Axes]":
    grid = figure.subplots(1, len(case.plot.panels), squeeze=False)
    for axes in grid[0]:
        axes.set_xlabel(case.plot.x)
    return list(grid[0])


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
    axes.plot(x, y.mean(axis=0), markersize=3.5, label=label, **{**look, "marker": marker})
    if len(y) > 1:
        axes.fill_between(
            x, y.min(axis=0), y.max(axis=0), color=look["color"], alpha=0.2, linewidth=0
        )


def _looks(panel: Panel) -> list[dict[str, Any]]:
    """The line style and the marker of each line of a panel: no two are the same.

    Dashed lines lie below, wide and pale, so that a line on top of one does not hide it.
    """
    looks: list[dict[str, Any]] = []
    for line in panel.lines:
        styles, stroke = (DASHED, PALE) if line.dashed else (SOLID, CLEAR)
        number = sum(look["linestyle"] in styles for look in looks) % len(styles)
        looks.append(
            {"linestyle": styles[number], "marker": MARKERS[len(looks) % len(MARKERS)], **stroke}
        )
    return looks


def _variant_look(look: dict[str, Any], variant: str) -> dict[str, Any]:
    """The same in the colour of a variant; fixed is wide and lies below, so that both are seen where they meet."""
    under = (
        {"linewidth": 1.8 * look["linewidth"], "zorder": look["zorder"] - 2}
        if variant == "fixed"
        else {}
    )
    return {**look, "color": COLOURS[variant], **under}


def _curves(
    case: Case, line: Line, variant: str, runs: Sequence[RunRecord]
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """x of shape (records,) and y of shape (seeds, records); raises MeasureError where seeds differ in length."""
    metrics = [record.metrics for record in runs]
    x = [select(case.plot.x, line.where, records, variant) for records in metrics]
    y = [measure(line, variant, {variant: records}) for records in metrics]
    if len({len(row) for row in (*x, *y)}) > 1:
        raise MeasureError(f"{variant} runs differ in the number of records of {line.metric!r}")
    return np.asarray(x[0], dtype=np.float64), np.asarray(y, dtype=np.float64)


def _finish(axes: "Axes", panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_ylabel(panel.label)
    axes.set_yscale(panel.scale)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if all(
        float(value).is_integer() for drawn in axes.lines for value in np.asarray(drawn.get_ydata())
    ):
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    # Above the axes: data may be anywhere in them.
    columns = 2 if len(panel.lines) > 1 else len(axes.lines)
    # Long enough to show how a line is broken.
    handle = {"handlelength": 2.2} if len(panel.lines) > 1 else {}
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2, **handle)
