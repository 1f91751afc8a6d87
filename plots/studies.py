"""The figures of a study: where the bug harms, how often, and whether another setting is a cure."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from plots.style import COLOURS, new_figure, save, styled
from runner.studies.analysis import Pair, explained, pairs, row_name, row_names, shares
from runner.studies.cells import LABELS, Cell, tuned
from runner.studies.definition import Study
from runner.studies.running import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABEL_COLOURS = dict(zip(LABELS, ("#9CC9E3", COLOURS["buggy"], "#7A2E00", COLOURS["fixed"], "#DDDDDD"), strict=True))
PANEL_COLUMNS = 3
# Inches of a cell of a heat map, and around a panel of them.
CELL, AROUND = (0.52, 0.3), (1.2, 1.1)
HARM = ("worse", "unstable")


def draw_study(results: Results, name: Callable[[str], Path]) -> list[Path]:
    """Draw the figures of a study; `name` gives the file for an ending like `_best.png`. Returns the files written.

    A study of the fixed program alone has heat maps of its metric; without a cell there is no figure.
    """
    study, cells = results.study, results.cells
    if not cells:
        return []
    two = "buggy" in study.variants
    figures = {f"_by_{axis}": lambda axis=axis: heat_maps(study, cells, axis) for axis in study.written.shown.panels}
    drawers: dict[str, Callable[[], Figure]] = {"_grid": lambda: heat_maps(study, cells, None), **figures}
    if two:
        drawers["_shares"] = lambda: share_bars(study, cells)
        if found := pairs(cells):
            drawers["_best"] = lambda: best_settings(study, found)
        if explained(study, cells):
            drawers["_factors"] = lambda: factors(study, cells)
    with styled():
        return [save(draw(), name(f"{ending}.png")) for ending, draw in drawers.items()]


def heat_maps(study: Study, cells: Sequence[Cell], axis: str | None) -> "Figure":
    """Rows by settings, a panel for each value of the parameter `axis`, or one for all.

    The colour is the mean gain of the cells (of a study of the fixed program alone: its metric). The numbers are how
    many of how many cells are worse or unstable.
    """
    index = study.written.axes.index(axis) if axis else 0
    groups = {str(point.values[index]): [] for point in study.points} if axis else {"": list(cells)}
    for cell in cells if axis else ():
        groups[str(cell.point.values[index])].append(cell)
    panels = {name: own for name, own in groups.items() if own}
    rows, places = row_names(study, cells), sorted({cell.place for cell in cells})
    columns = min(len(panels), PANEL_COLUMNS)
    lines = math.ceil(len(panels) / columns)
    figure = new_figure(1)
    width, height = AROUND[0] + CELL[0] * len(places), AROUND[1] + CELL[1] * len(rows)
    figure.set_size_inches(max(5.2, 0.9 + width * columns), 0.5 + height * lines)
    grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    limit = max((abs(value) for cell in cells if math.isfinite(value := _colour(study, cell))), default=1.0) or 1.0
    image: Any = None
    for axes, (name, own) in zip(grid.flat, panels.items(), strict=False):
        image = _heat_map(axes, study, own, rows, places, limit)
        axes.set_title(name, fontsize=10)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel(_setting_text(study), fontsize=10)
    metric = study.written.comparison.metric
    said = f"gain in {metric}" if "buggy" in study.variants else f"{metric}, fixed"
    figure.colorbar(image, ax=list(grid.flat), label=said, shrink=0.7, pad=0.01)
    figure.suptitle(f"{study.id}: mean {said}" + (f" by {axis}" if axis else ""))
    return figure


def _colour(study: Study, cell: Cell) -> float:
    return cell.gain if "buggy" in study.variants else cell.fixed.mean


def _setting_text(study: Study) -> str:
    setting = study.written.setting
    return f"{setting} over the best one of the fixed program" if study.written.centre else setting


def _heat_map(
    axes: "Axes", study: Study, cells: Sequence[Cell], rows: Sequence[str], places: Sequence[float], limit: float
) -> Any:
    shade = np.full((len(rows), len(places)), np.nan)
    two = "buggy" in study.variants
    for y, row in enumerate(rows):
        for x, place in enumerate(places):
            own = [cell for cell in cells if cell.place == place and row_name(study, cell) == row]
            values = [value for cell in own if math.isfinite(value := _colour(study, cell))]
            shade[y, x] = mean(values) if values else math.nan
            if own and two:
                text = f"{sum(cell.label in HARM for cell in own)}/{len(own)}"
                colour = "white" if abs(shade[y, x]) > 0.6 * limit else "#333333"
                axes.text(x, y, text, ha="center", va="center", fontsize=7, color=colour)
    look: dict[str, Any] = {"cmap": "RdBu", "vmin": -limit, "vmax": limit} if two else {"cmap": "viridis"}
    image = axes.imshow(shade, aspect="auto", **look)
    axes.set_xticks(range(len(places)), [f"{place:.2g}" for place in places], fontsize=8, rotation=45)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return image


def share_bars(study: Study, cells: Sequence[Cell]) -> "Figure":
    """The shares of the labels for each row: of all cells, and of those in which the fixed program is at its best."""
    figure = new_figure(2)
    titles = {"all cells": cells, "cells in which fixed is at its best": tuned(cells, study.written.comparison)}
    every = figure.subplots(1, 2)
    for axes, (title, own) in zip(every, titles.items(), strict=True):
        bars = shares(study, own) if own else []
        names = [f"{bar.name} ({bar.total})" for bar in bars]  # how many cells, which differs
        left = np.zeros(len(bars))
        for label in LABELS:
            widths = np.asarray([bar.counts[label] / bar.total for bar in bars])
            axes.barh(range(len(bars)), widths, left=left, color=LABEL_COLOURS[label], label=label, height=0.7)
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


def best_settings(study: Study, found: Sequence[Pair]) -> "Figure":
    """Each program at its own best setting: the metric of one over that of the other, and the ratio of the settings."""
    figure = new_figure(2)
    left, right = figure.subplots(1, 2)
    metric = study.written.comparison.metric
    rows = row_names(study, [pair.fixed for pair in found])
    for number, row in enumerate(rows):
        own = [pair for pair in found if row_name(study, pair.fixed) == row]
        x, y = ([side.mean for side in sides] for sides in _sides(own))
        errors = [[[side.mean - min(side.values) for side in sides], [max(side.values) - side.mean for side in sides]]
                  for sides in _sides(own)]  # fmt: skip
        colour = f"C{number}"
        left.errorbar(x, y, xerr=errors[0], yerr=errors[1], fmt="o", ms=3.5, lw=0.6, color=colour, label=row, alpha=0.8)
        shift = np.linspace(-0.25, 0.25, len(own)) if len(own) > 1 else np.zeros(1)
        right.plot([pair.ratio for pair in own], number + shift, "o", ms=3.5, color=colour, alpha=0.8)
    ends = [min(*left.get_xlim(), *left.get_ylim()), max(*left.get_xlim(), *left.get_ylim())]
    left.plot(ends, ends, color="#888888", lw=0.8, zorder=0)
    left.set_xlabel(f"{metric}, fixed")
    left.set_ylabel(f"{metric}, buggy")
    left.legend(fontsize=7, loc="best")
    right.set_xscale("log")
    ratios = sorted({float(f"{pair.ratio:.2g}") for pair in found} | {1.0})
    right.set_xlim(ratios[0] / 2, ratios[-1] * 2)
    right.set_xticks(ratios, [f"{ratio:g}" for ratio in ratios], fontsize=8)
    right.set_xticks([], minor=True)
    right.axvline(1, color="#888888", lw=0.8, zorder=0)
    right.set_yticks(range(len(rows)), rows, fontsize=8)
    right.invert_yaxis()
    right.set_xlabel(f"best {study.written.setting}: buggy over fixed")
    figure.suptitle(f"{study.id}: each at its best {study.written.setting} (mean and range of the seeds)")
    return figure


def _sides(own: Sequence[Pair]) -> tuple[list[Any], list[Any]]:
    return [pair.fixed.fixed for pair in own], [pair.buggy.buggy for pair in own]


def factors(study: Study, cells: Sequence[Cell]) -> "Figure":
    """The share of the variance of the gain that each factor explains, and sets of them."""
    figure = new_figure(1)
    figure.set_size_inches(6.4, 1.3 + 0.3 * len(explained(study, cells)))
    axes = figure.subplots()
    found = explained(study, cells)
    names = [" × ".join(item.factors) for item in found]
    axes.barh(names, [item.share for item in found], color=[_shade(len(item.factors)) for item in found], height=0.7)
    axes.invert_yaxis()
    axes.set_xlim(min(0.0, *(item.share for item in found)), 1)
    axes.set_xlabel("share of the variance of the gain (adjusted R squared)")
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(f"{study.id}: what the gain depends on")
    return figure


def _shade(count: int) -> str:
    return ("#9CC9E3", "#4F8FC0", COLOURS["fixed"])[min(count, 3) - 1]
