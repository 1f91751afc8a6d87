"""The figure of what is in the catalogue: bugs by cause, effect and stage, each by location."""

from pathlib import Path
from typing import TYPE_CHECKING

from plots.style import new_figure, save, styled
from runner.bugs.catalogue_counts import Numbers
from runner.bugs.taxonomy import LISTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = ("cause", "effect", "stage")
CELL_INCHES = (0.85, 0.3)
MARGIN_INCHES = (2.1, 0.75)


def draw_taxonomy(numbers: Numbers, path: Path) -> Path:
    """Draw a panel of counts for each of PANELS into `path` (.png, .pdf or .svg); returns it.

    Raises ResultsError where it cannot be written.
    """
    places = LISTS["location"]
    rows = [len(numbers[name]) for name in PANELS]
    largest = max(
        1, *(found for name in PANELS for row in numbers[name].values() for found in row.values())
    )
    with styled():
        figure = new_figure(1)
        height = CELL_INCHES[1] * sum(rows) + MARGIN_INCHES[1] * len(PANELS) + 0.4
        figure.set_size_inches(MARGIN_INCHES[0] + CELL_INCHES[0] * len(places), height)
        grid = figure.subplots(len(PANELS), 1, squeeze=False, height_ratios=rows)
        for axes, name in zip(grid[:, 0], PANELS, strict=True):
            _panel(axes, numbers, name, places, largest)
        total = sum(sum(row.values()) for row in numbers[PANELS[0]].values())
        figure.suptitle(f"{total} bugs, by where the fault is")
        return save(figure, path)


def _panel(
    axes: "Axes", numbers: Numbers, name: str, places: tuple[str, ...], largest: int
) -> None:
    from matplotlib.patches import Rectangle

    entries = list(numbers[name])
    for y, entry in enumerate(entries):
        for x, place in enumerate(places):
            found = numbers[name][entry][place]
            colour = (0.0, 0.447, 0.698, 0.15 + 0.6 * found / largest) if found else "#F6F6F6"
            axes.add_patch(
                Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, linewidth=0)
            )
            axes.text(x, y, str(found) if found else "", ha="center", va="center")
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_ylim(len(entries) - 0.5, -0.5)
    axes.set_xticks(range(len(places)), places, fontsize=8)
    axes.set_yticks(
        range(len(entries)),
        [f"{entry}  ({sum(numbers[name][entry].values())})" for entry in entries],
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(name, fontweight="bold", loc="left", x=-0.4)
