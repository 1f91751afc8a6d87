"""The figure of what is in the catalogue: bugs by cause, effect and stage, each by location."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib import rcParams

from plots.style import TEXT_INCHES, bare_grid, new_figure, on_paper, save, styled
from runner.bugs.catalogue_counts import Numbers
from runner.bugs.taxonomy import LISTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = ("cause", "effect", "stage")
CELL_INCHES = (0.85, 0.3)
MARGIN_INCHES = (2.1, 0.75)
TITLE_INCHES = 0.4
# Size of the names of places, as a share of the size of other text: they stand close together.
PLACE_SIZE = 0.8
# Where the name of a panel begins, above the labels of its rows: in widths of the panel.
HEAD, PAPER_HEAD = -0.4, -0.25
# Heights on paper, where the text is smaller: three panels fit a page.
PAPER_CELL_INCHES, PAPER_MARGIN_INCHES = 0.2, 0.5


def draw_taxonomy(numbers: Numbers, path: Path, paper: bool = False) -> Path:
    """Draw a panel of counts for each of PANELS into `path` (.png, .pdf or .svg); returns it.

    For a `paper` it is two columns wide and has no title. Raises ResultsError where it cannot be
    written.
    """
    with on_paper() if paper else styled():
        return save(taxonomy_figure(numbers, paper), path)


def taxonomy_figure(numbers: Numbers, paper: bool = False) -> "Figure":
    """The figure that `draw_taxonomy` writes."""
    places = LISTS["location"]
    rows = [len(numbers[name]) for name in PANELS]
    counts = chain.from_iterable(numbers[name].values() for name in PANELS)
    largest = max(1, *chain.from_iterable(row.values() for row in counts))
    figure = new_figure(1)
    figure.set_size_inches(*_size(rows, len(places), paper))
    grid = figure.subplots(len(PANELS), 1, squeeze=False, height_ratios=rows)
    for axes, name in zip(grid[:, 0], PANELS, strict=True):
        _panel(axes, numbers, name, places, largest)
        head = PAPER_HEAD if paper else HEAD
        axes.set_title(name, fontweight="bold", loc="left", x=head)
    if not paper:
        first_panel = numbers[PANELS[0]].values()
        total = sum(sum(row.values()) for row in first_panel)
        figure.suptitle(f"{total} bugs, by where the fault is")
    return figure


def _size(rows: list[int], places: int, paper: bool) -> tuple[float, float]:
    """Width and height in inches, of panels with so many rows."""
    if paper:
        return TEXT_INCHES, PAPER_CELL_INCHES * sum(rows) + PAPER_MARGIN_INCHES * len(rows)
    width = MARGIN_INCHES[0] + CELL_INCHES[0] * places
    return width, CELL_INCHES[1] * sum(rows) + MARGIN_INCHES[1] * len(rows) + TITLE_INCHES


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
    axes.set_xticks(range(len(places)), places, fontsize=PLACE_SIZE * rcParams["font.size"])
    totals = {entry: sum(row.values()) for entry, row in numbers[name].items()}
    labels = [f"{entry}  ({total})" for entry, total in totals.items()]
    axes.set_yticks(range(len(entries)), labels)
    axes.xaxis.tick_top()
    bare_grid(axes)
