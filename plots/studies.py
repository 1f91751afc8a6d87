"""The figures of a study: where the bug harms, how often, and whether another setting is a cure."""

import math
from collections.abc import Callable, Sequence
from functools import partial
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
    """Draw the figures of a study; `name` gives the file for an ending like `_best.png`. Returns
    the files written.

    A study of the fixed program alone has heat maps of its metric; without a cell there is no
    figure.
    """
    study, cells = results.study, results.cells
    if not cells:
        return []
    drawers: dict[str, Callable[[], Figure]] = {"_grid": partial(heat_maps, study, cells, None)}
    for axis in study.written.shown.panels:
        drawers[f"_by_{axis}"] = partial(heat_maps, study, cells, axis)
    if _has_both(study):
        drawers["_shares"] = partial(share_bars, study, cells)
        best_pairs = pairs(cells)
        if best_pairs:
            drawers["_best"] = partial(best_settings, study, best_pairs)
        if explained(study, cells):
            drawers["_factors"] = partial(factors, study, cells)
    with styled():
        return [save(draw(), name(f"{ending}.png")) for ending, draw in drawers.items()]


def _has_both(study: Study) -> bool:
    """Whether the buggy program is part of the study, which may be of the fixed program alone."""
    return "buggy" in study.variants


def heat_maps(study: Study, cells: Sequence[Cell], axis: str | None) -> "Figure":
    """Rows by settings, a panel for each value of the parameter `axis`, or one for all.

    The colour is the mean gain of the cells (of a study of the fixed program alone: its metric).
    The numbers are how many of how many cells are worse or unstable; a cell that stands alone has
    its label.
    """
    panels = _panels(study, cells, axis)
    rows = row_names(study, cells)
    places = sorted({cell.place for cell in cells})
    width = AROUND[0] + CELL[0] * len(places)
    height = AROUND[1] + CELL[1] * len(rows)
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
    label = "mean, below 0 the bug harms" if _has_both(study) else "mean"
    figure.colorbar(image, ax=list(grid.flat), label=label, shrink=0.7, pad=0.01)
    title = f"{study.id}: {_quantity(study)}"
    figure.suptitle(f"{title}, by {axis}" if axis else title)
    return figure


def _quantity(study: Study) -> str:
    """The quantity that the colours of the heat maps show."""
    metric = study.written.comparison.metric
    return f"gain in {metric}" if _has_both(study) else f"{metric}, fixed"


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
    values = _finite_values(study, cells) or [0.0]
    if not _has_both(study):
        return min(values), max(values)
    limit = max(map(abs, values)) or 1.0
    return -limit, limit


def _finite_values(study: Study, cells: Sequence[Cell]) -> list[float]:
    """What the colours of cells show, as far as it is a finite number."""
    has_both = _has_both(study)
    values = [cell.gain if has_both else cell.fixed.mean for cell in cells]
    return [value for value in values if math.isfinite(value)]


def _setting_text(study: Study) -> str:
    setting = study.written.setting
    if study.written.centre:
        return f"{setting} over the best one of the fixed program"
    return setting


def _heat_map(
    axes: "Axes",
    study: Study,
    cells: Sequence[Cell],
    rows: Sequence[str],
    places: Sequence[float],
    scale: tuple[float, float],
) -> Any:
    shade = np.full((len(rows), len(places)), np.nan)
    has_both = _has_both(study)
    low, high = scale
    for y, row in enumerate(rows):
        row_cells = [cell for cell in cells if row_name(study, cell) == row]
        for x, place in enumerate(places):
            group = [cell for cell in row_cells if cell.place == place]
            values = _finite_values(study, group)
            if values:
                shade[y, x] = mean(values)
            if group and has_both:
                colour = "white" if abs(shade[y, x]) > 0.6 * high else "#333333"
                text = _cell_text(group)
                axes.text(x, y, text, ha="center", va="center", fontsize=6.5, color=colour)
    colours = "RdBu" if has_both else "viridis"
    image = axes.imshow(shade, aspect="auto", cmap=colours, vmin=low, vmax=high)
    labels = [f"{place:.2g}" for place in places]
    axes.set_xticks(range(len(places)), labels, fontsize=8, rotation=45)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return image


def _cell_text(group: Sequence[Cell]) -> str:
    """How many of several cells are worse or unstable; the label of a cell that stands alone.

    A benign cell has no label: its colour says enough.
    """
    if len(group) > 1:
        harmed = sum(cell.label in HARM for cell in group)
        return f"{harmed}/{len(group)}"
    label = group[0].label
    return "" if label == BENIGN else label


def share_bars(study: Study, cells: Sequence[Cell]) -> "Figure":
    """The shares of the labels for each row: of all cells,
    and of those in which the fixed program is at its best.
    """
    figure = new_figure(2)
    titles = {
        "all cells": cells,
        "cells in which fixed is at its best": tuned(cells, study.written.comparison),
    }
    both_axes = figure.subplots(1, 2)
    for axes, (title, group) in zip(both_axes, titles.items(), strict=True):
        bars = shares(study, group) if group else []
        # With the number of cells, which differs from row to row.
        names = [f"{bar.name} ({bar.total})" for bar in bars]
        starts = np.zeros(len(bars))
        for label in LABELS:
            widths = np.asarray([bar.counts[label] / bar.total for bar in bars])
            look: dict[str, Any] = {"color": LABEL_COLOURS[label], "label": label, "height": 0.7}
            axes.barh(range(len(bars)), widths, left=starts, **look)
            starts += widths
        axes.set_yticks(range(len(bars)), names, fontsize=8)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("share of the cells")
        axes.grid(visible=False)
        axes.invert_yaxis()
    handles, names = both_axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(LABELS))
    figure.suptitle(f"{study.id}: what the bug does")
    return figure


def best_settings(study: Study, best_pairs: Sequence[BestPair]) -> "Figure":
    """Each program at its own best setting: the metric of one over that of the other,
    and the ratio of the settings.
    """
    figure = new_figure(2)
    metric_axes, ratio_axes = figure.subplots(1, 2)
    rows = row_names(study, [pair.fixed for pair in best_pairs])
    for number, row in enumerate(rows):
        group = [pair for pair in best_pairs if row_name(study, pair.fixed) == row]
        colour = f"C{number}"
        _scatter(metric_axes, group, row, colour)
        shift = np.linspace(-0.25, 0.25, len(group)) if len(group) > 1 else np.zeros(1)
        ratios = [pair.ratio for pair in group]
        ratio_axes.plot(ratios, number + shift, "o", ms=3.5, color=colour, alpha=0.8)
    limits = [*metric_axes.get_xlim(), *metric_axes.get_ylim()]
    ends = [min(limits), max(limits)]
    metric_axes.plot(ends, ends, color="#888888", lw=0.8, zorder=0)
    metric_axes.set_xlabel(f"{study.written.comparison.metric}, fixed")
    metric_axes.set_ylabel(f"{study.written.comparison.metric}, buggy")
    metric_axes.legend(fontsize=7, loc="best")
    # On a logarithmic scale there is neither 0 nor NaN.
    ratios = [1.0, *(pair.ratio for pair in best_pairs if pair.ratio > 0)]
    ratio_axes.set_xscale("log")
    ratio_axes.set_xlim(min(ratios) / 2, max(ratios) * 2)
    ratio_axes.xaxis.set_major_formatter("{x:g}")
    ratio_axes.xaxis.set_minor_formatter("")
    ratio_axes.axvline(1, color="#888888", lw=0.8, zorder=0)
    ratio_axes.set_yticks(range(len(rows)), rows, fontsize=8)
    ratio_axes.invert_yaxis()
    ratio_axes.set_xlabel(f"best {study.written.setting}: buggy over fixed")
    title = f"each at its best {study.written.setting} (mean and range of the seeds)"
    figure.suptitle(f"{study.id}: {title}")
    return figure


def _scatter(axes: "Axes", group: Sequence[BestPair], row: str, colour: str) -> None:
    """A point for each pair, with the range of the seeds as bars."""
    fixed = [pair.fixed.fixed for pair in group]
    buggy = [pair.buggy.buggy for pair in group]
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
    """How far the seeds are below and above their mean, never less than 0:
    the mean of equal values may be rounded.
    """
    below = [max(0.0, side.mean - min(side.values)) for side in sides]
    above = [max(0.0, max(side.values) - side.mean) for side in sides]
    return [below, above]


def factors(study: Study, cells: Sequence[Cell]) -> "Figure":
    """The share of the variance of the gain that each factor explains, and sets of them."""
    effects = explained(study, cells)
    names = [" × ".join(effect.factors) for effect in effects]
    shares_explained = [effect.share for effect in effects]
    colours = [_shade(len(effect.factors)) for effect in effects]
    figure = new_figure(1)
    figure.set_size_inches(6.4, 1.3 + 0.3 * len(effects))
    axes = figure.subplots()
    axes.barh(names, shares_explained, color=colours, height=0.7)
    axes.invert_yaxis()
    axes.set_xlim(min(0.0, *shares_explained), 1)
    axes.set_xlabel("share of the variance of the gain (adjusted R squared)")
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(f"{study.id}: what the gain depends on")
    return figure


def _shade(count: int) -> str:
    return ("#9CC9E3", "#4F8FC0", COLOURS["fixed"])[min(count, 3) - 1]
