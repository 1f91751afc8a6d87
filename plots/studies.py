"""The figures of a study: where the bug harms, how often, and whether another setting is a cure."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from plots.style import COLOURS, MOST_INCHES, new_figure, save, styled
from runner.studies.analysis import BestPair, explained, pairs, row_name, row_names, shares
from runner.studies.cells import BENIGN, LABELS, Cell, Side, tuned
from runner.studies.definition import Study
from runner.studies.running import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABEL_COLOURS = dict(
    zip(LABELS, ("#9CC9E3", COLOURS["buggy"], "#7A2E00", COLOURS["fixed"], "#DDDDDD"), strict=True)
)
# Inches of a cell of a heat map, and around a panel of them.
CELL, AROUND = (0.37, 0.27), (0.9, 0.9)
HARM = ("worse", "unstable")


def draw_study(results: Results, name: Callable[[str], Path]) -> list[Path]:
    """Draw the figures of a study; `name` gives the file for an ending like `_best.png`. Returns the files written.

    A study of the fixed program alone has heat maps of its metric; without a cell there is no figure.
    """
    study, cells = results.study, results.cells
    if not cells:
        return []
    two = "buggy" in study.variants
    figures = {
        f"_by_{axis}": lambda axis=axis: heat_maps(study, cells, axis)
        for axis in study.written.shown.panels
    }
    drawers: dict[str, Callable[[], Figure]] = {
        "_grid": lambda: heat_maps(study, cells, None),
        **figures,
    }
    if two:
        drawers["_shares"] = lambda: share_bars(study, cells)
        if best_pairs := pairs(cells):
            drawers["_best"] = lambda: best_settings(study, best_pairs)
        if explained(study, cells):
            drawers["_factors"] = lambda: factors(study, cells)
    with styled():
        return [save(draw(), name(f"{ending}.png")) for ending, draw in drawers.items()]


def heat_maps(study: Study, cells: Sequence[Cell], axis: str | None) -> "Figure":
    """Rows by settings, a panel for each value of the parameter `axis`, or one for all.

    The colour is the mean gain of the cells (of a study of the fixed program alone: its metric). The numbers are how
    many of how many cells are worse or unstable; a cell that stands alone has its label.
    """
    panels = _panels(study, cells, axis)
    rows, places = row_names(study, cells), sorted({cell.place for cell in cells})
    width, height = AROUND[0] + CELL[0] * len(places), AROUND[1] + CELL[1] * len(rows)
    columns = min(len(panels), max(1, int(MOST_INCHES / width)))
    lines = math.ceil(len(panels) / columns)
    figure = new_figure(1)
    figure.set_size_inches(max(6.4, 0.9 + width * columns), max(3.2, 0.5 + height * lines))
    grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    scale = _scale(study, cells)
    image: Any = None
    for axes, (name, group) in zip(grid.flat, panels.items(), strict=False):
        image = _heat_map(axes, study, group, rows, places, scale)
        axes.set_title(name, fontsize=10)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel(_setting_text(study), fontsize=10)
    metric = study.written.comparison.metric
    quantity = f"gain in {metric}" if "buggy" in study.variants else f"{metric}, fixed"
    mean_of = "mean, below 0 the bug harms" if "buggy" in study.variants else "mean"
    figure.colorbar(image, ax=list(grid.flat), label=mean_of, shrink=0.7, pad=0.01)
    figure.suptitle(f"{study.id}: {quantity}" + (f", by {axis}" if axis else ""))
    return figure


def _panels(study: Study, cells: Sequence[Cell], axis: str | None) -> dict[str, list[Cell]]:
    """The cells of each panel, by its title, in the order of the study."""
    if axis is None:
        return {"": list(cells)}
    index = study.written.axes.index(axis)
    panels: dict[str, list[Cell]] = {str(point.values[index]): [] for point in study.points}
    for cell in cells:
        panels[str(cell.point.values[index])].append(cell)
    return {name: group for name, group in panels.items() if group}


def _scale(study: Study, cells: Sequence[Cell]) -> tuple[float, float]:
    """The ends of the one colour scale of all panels."""
    every = [value for cell in cells if math.isfinite(value := _colour(study, cell))] or [0.0]
    limit = max(map(abs, every)) or 1.0
    return (-limit, limit) if "buggy" in study.variants else (min(every), max(every))


def _colour(study: Study, cell: Cell) -> float:
    return cell.gain if "buggy" in study.variants else cell.fixed.mean


def _setting_text(study: Study) -> str:
    setting = study.written.setting
    return f"{setting} over the best one of the fixed program" if study.written.centre else setting


def _heat_map(
    axes: "Axes",
    study: Study,
    cells: Sequence[Cell],
    rows: Sequence[str],
    places: Sequence[float],
    scale: tuple[float, float],
) -> Any:
    shade = np.full((len(rows), len(places)), np.nan)
    two = "buggy" in study.variants
    for y, row in enumerate(rows):
        for x, place in enumerate(places):
            group = [cell for cell in cells if cell.place == place and row_name(study, cell) == row]
            values = [value for cell in group if math.isfinite(value := _colour(study, cell))]
            shade[y, x] = mean(values) if values else math.nan
            if group and two:
                text = (
                    f"{sum(cell.label in HARM for cell in group)}/{len(group)}"
                    if len(group) > 1
                    else _word(group[0])
                )
                colour = "white" if abs(shade[y, x]) > 0.6 * scale[1] else "#333333"
                axes.text(x, y, text, ha="center", va="center", fontsize=6.5, color=colour)
    image = axes.imshow(
        shade, aspect="auto", cmap="RdBu" if two else "viridis", vmin=scale[0], vmax=scale[1]
    )
    axes.set_xticks(
        range(len(places)), [f"{place:.2g}" for place in places], fontsize=8, rotation=45
    )
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return image


def _word(cell: Cell) -> str:
    """The label of a cell that stands alone; of a benign one the colour says enough."""
    return "" if cell.label == BENIGN else cell.label


def share_bars(study: Study, cells: Sequence[Cell]) -> "Figure":
    """The shares of the labels for each row: of all cells, and of those in which the fixed program is at its best."""
    figure = new_figure(2)
    titles = {
        "all cells": cells,
        "cells in which fixed is at its best": tuned(cells, study.written.comparison),
    }
    every = figure.subplots(1, 2)
    for axes, (title, group) in zip(every, titles.items(), strict=True):
        bars = shares(study, group) if group else []
        names = [f"{bar.name} ({bar.total})" for bar in bars]  # how many cells, which differs
        left = np.zeros(len(bars))
        for label in LABELS:
            widths = np.asarray([bar.counts[label] / bar.total for bar in bars])
            axes.barh(
                range(len(bars)),
                widths,
                left=left,
                color=LABEL_COLOURS[label],
                label=label,
                height=0.7,
            )
            left += widths
        axes.set_yticks(range(len(bars)), names, fontsize=8)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("share of the cells")
        axes.grid(visible=False)
        axes.invert_yaxis()
    handles, names = every[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(LABELS))
    figure.suptitle(f"{study.id}: what the bug does")
    return figure


def best_settings(study: Study, best_pairs: Sequence[BestPair]) -> "Figure":
    """Each program at its own best setting: the metric of one over that of the other, and the ratio of the settings."""
    figure = new_figure(2)
    left, right = figure.subplots(1, 2)
    rows = row_names(study, [pair.fixed for pair in best_pairs])
    for number, row in enumerate(rows):
        group = [pair for pair in best_pairs if row_name(study, pair.fixed) == row]
        _scatter(left, group, row, f"C{number}")
        shift = np.linspace(-0.25, 0.25, len(group)) if len(group) > 1 else np.zeros(1)
        right.plot(
            [pair.ratio for pair in group],
            number + shift,
            "o",
            ms=3.5,
            color=f"C{number}",
            alpha=0.8,
        )
    ends = [min(*left.get_xlim(), *left.get_ylim()), max(*left.get_xlim(), *left.get_ylim())]
    left.plot(ends, ends, color="#888888", lw=0.8, zorder=0)
    left.set_xlabel(f"{study.written.comparison.metric}, fixed")
    left.set_ylabel(f"{study.written.comparison.metric}, buggy")
    left.legend(fontsize=7, loc="best")
    ratios = [1.0, *(pair.ratio for pair in best_pairs)]
    right.set_xscale("log")
    right.set_xlim(min(ratios) / 2, max(ratios) * 2)
    right.xaxis.set_major_formatter("{x:g}")
    right.xaxis.set_minor_formatter("")
    right.axvline(1, color="#888888", lw=0.8, zorder=0)
    right.set_yticks(range(len(rows)), rows, fontsize=8)
    right.invert_yaxis()
    right.set_xlabel(f"best {study.written.setting}: buggy over fixed")
    figure.suptitle(
        f"{study.id}: each at its best {study.written.setting} (mean and range of the seeds)"
    )
    return figure


def _scatter(axes: "Axes", group: Sequence[BestPair], row: str, colour: str) -> None:
    """A point for each pair, with the range of the seeds as bars."""
    fixed, buggy = [pair.fixed.fixed for pair in group], [pair.buggy.buggy for pair in group]
    axes.errorbar(
        [side.mean for side in fixed],
        [side.mean for side in buggy],
        xerr=_range(fixed),
        yerr=_range(buggy),
        fmt="o",
        markersize=3.5,
        linewidth=0.6,
        color=colour,
        label=row,
        alpha=0.8,
    )


def _range(sides: Sequence[Side]) -> list[list[float]]:
    """How far the seeds are below and above their mean; rounding may put the mean of equal values beside them."""
    below = [max(0.0, side.mean - min(side.values)) for side in sides]
    return [below, [max(0.0, max(side.values) - side.mean) for side in sides]]


def factors(study: Study, cells: Sequence[Cell]) -> "Figure":
    """The share of the variance of the gain that each factor explains, and sets of them."""
    figure = new_figure(1)
    figure.set_size_inches(6.4, 1.3 + 0.3 * len(explained(study, cells)))
    axes = figure.subplots()
    effects = explained(study, cells)
    names = [" × ".join(item.factors) for item in effects]
    axes.barh(
        names,
        [item.share for item in effects],
        color=[_shade(len(item.factors)) for item in effects],
        height=0.7,
    )
    axes.invert_yaxis()
    axes.set_xlim(min(0.0, *(item.share for item in effects)), 1)
    axes.set_xlabel("share of the variance of the gain (adjusted R squared)")
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(f"{study.id}: what the gain depends on")
    return figure


def _shade(count: int) -> str:
    return ("#9CC9E3", "#4F8FC0", COLOURS["fixed"])[min(count, 3) - 1]
