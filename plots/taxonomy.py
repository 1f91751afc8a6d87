"""The figure of what is in the catalogue: bugs by cause, effect and stage, each by location."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plots.style import bare_grid, new_figure, save, styled
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
    counts = chain.from_iterable(numbers[name].values() for name in PANELS)
    largest = max(1, *chain.from_iterable(row.values() for row in counts))
    with styled():
        figure = new_figure(1)
        width = MARGIN_INCHES[0] + CELL_INCHES[0] * len(places)
        height = CELL_INCHES[1] * sum(rows) + MARGIN_INCHES[1] * len(PANELS) + 0.4
        figure.set_size_inches(width, height)
        grid = figure.subplots(len(PANELS), 1, squeeze=False, height_ratios=rows)
        for axes, name in zip(grid[:, 0], PANELS, strict=True):
            _panel(axes, numbers, name, places, largest)
        first_panel = numbers[PANELS[0]].values()
        total = sum(sum(row.values()) for row in first_panel)
        figure.suptitle(f"{total} bugs, by where the fault is")
        return save(figure, path)


def _panel(
    axes: "Axes", numbers: Numbers, name: str, places: tuple[str, ...], largest: int
) -> None:
    from matplotlib.patches import Rectangle

    entries = list(numbers[name])
    for y, entry in enumerate(entries):
        for x, place in enumerate(places):
            count = numbers[name][entry][place]
            colour: Any = "#F6F6F6"
            if count:
                colour = (0.0, 0.447, 0.698, 0.15 + 0.6 * count / largest)
            corner = (x - 0.48, y - 0.46)
            axes.add_patch(Rectangle(corner, 0.96, 0.92, facecolor=colour, linewidth=0))
            axes.text(x, y, str(count or ""), ha="center", va="center")
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_ylim(len(entries) - 0.5, -0.5)
    axes.set_xticks(range(len(places)), places, fontsize=8)
    totals = {entry: sum(row.values()) for entry, row in numbers[name].items()}
    labels = [f"{entry}  ({total})" for entry, total in totals.items()]
    axes.set_yticks(range(len(entries)), labels)
    axes.xaxis.tick_top()
    bare_grid(axes)
    axes.set_title(name, fontweight="bold", loc="left", x=-0.4)
