"""The style of figures: colours, sizes, and the function that writes the files."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import matplotlib

from runner.bugs.program import VARIANTS
from runner.errors import ResultsError
from runner.files.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from runner.results.record import RunRecord

# Chooses figures by their names, without the ending.
Only = Callable[[str], bool]
# Vermilion and blue, near those of the Okabe-Ito palette: told apart with any kind of colour
# vision, and, one twice as light as the other, on grey paper.
COLOURS = {"buggy": "#E66100", "fixed": "#004C8C"}
NOT_RUN = "not run"
STATES = {
    "affected": "#F0A27A",
    "not affected": "#9CC9E3",
    "neither": "#F2E3A0",
    "INVALID": "#DDDDDD",
}
# Each lighter or darker than all others, so that they differ with any kind of colour vision and on
# grey paper; light enough for black numbers. The frequent ones are the lightest.
OUTCOMES = {
    "found": "#3FA7E2",
    "early": "#8F66B5",
    "fixed did not run": "#4D9B65",
    "also on fixed": "#EBD787",
    "false alarm": "#F49B61",
    "silent": "#EBEBEB",
    "no answer": "#C4C4C4",
    "not met": "#FFFFFF",
}
PREFIX = {"buggy": "origin", "fixed": "fix"}
SINGLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
# Width of a column of a paper, and of its whole page.
COLUMN_INCHES, TEXT_INCHES = 3.5, 7.0
# Dots an inch of a figure that is as wide as a column.
COLUMN_DOTS = 220
# Width and height of a panel. More than two panels share MOST_INCHES, so that text stays large
# enough in a README.
PANEL_INCHES = (4.6, 3.4)
MOST_INCHES = 11.4
# Of a title, in the font of the settings below.
LETTERS_AN_INCH = 11
SETTINGS: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 1.4,
    "legend.handletextpad": 0.4,
    "legend.columnspacing": 0.9,
    # Files, and what is shown, have this resolution.
    "savefig.dpi": 120,
    "figure.dpi": 120,
    # With a fixed salt, the same records give the same file, whenever and wherever they are drawn.
    "svg.hashsalt": "trainbugs",
    # Publishers refuse the Type 3 fonts that matplotlib embeds by default.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}
# Of a figure on paper: smaller text, and what is around it.
PAPER_SETTINGS: dict[Any, Any] = {
    "font.size": 7.5,
    "legend.fontsize": 7,
    "lines.linewidth": 1.0,
    "savefig.dpi": COLUMN_DOTS,
    "figure.dpi": COLUMN_DOTS,
}


@contextmanager
def styled() -> Iterator[None]:
    """A context with the project's settings of matplotlib."""
    with matplotlib.rc_context(SETTINGS):
        yield


@contextmanager
def column(dots: int = COLUMN_DOTS) -> Iterator[None]:
    """A context with the settings for figures as wide as a column of a paper: smaller text,
    more dots an inch.
    """
    with (
        styled(),
        matplotlib.rc_context({"font.size": 7.5, "savefig.dpi": dots, "figure.dpi": dots}),
    ):
        yield


@contextmanager
def on_paper() -> Iterator[None]:
    """A context with the settings for figures of a paper that are one or two columns wide."""
    with styled(), matplotlib.rc_context(PAPER_SETTINGS):
        yield


def give_title(figure: "Figure", text: str) -> None:
    """Write a title over the whole figure, in as many lines as its width needs."""
    letters = int(figure.get_figwidth() * LETTERS_AN_INCH)
    figure.suptitle("\n".join(wrap(text, letters)))


def bare_grid(axes: "Axes") -> None:
    """Remove everything from the axes but their labels: the cells are drawn."""
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)


def finished_runs(records: "Sequence[RunRecord]") -> "dict[str, list[RunRecord]]":
    """The runs of each variant that came to their end."""
    runs: dict[str, list[RunRecord]] = {variant: [] for variant in VARIANTS}
    for record in records:
        if record.ok and record.variant in runs:
            runs[record.variant].append(record)
    return runs


def new_figure(panels: int) -> "Figure":
    """An empty figure, wide enough for that many panels side by side. Without pyplot it needs no
    screen.
    """
    from plots.notebook import NotebookFigure

    panel_width, height = PANEL_INCHES
    width = min(panel_width * panels, max(2 * panel_width, MOST_INCHES))
    return NotebookFigure(figsize=(width, height), layout="constrained")


def seeds_text(records: "Sequence[RunRecord]") -> str:
    """The part of a title that says which seeds are drawn, and whether the fault was put back."""
    seeds = sorted({record.seed for record in records})
    injected = ", fault injected" if any(record.injected for record in records) else ""
    if len(seeds) == 1:
        return f"{injected} (seed {seeds[0]})"
    return f"{injected} (mean and range of {len(seeds)} seeds)"


def save(figure: "Figure", path: Path) -> Path:
    """Write the figure to `path` atomically, without a date;
    raises ResultsError where that is impossible.
    """
    dates = {"png": "Software", "pdf": "CreationDate", "svg": "Date"}
    without_date = {dates[path.suffix[1:]]: None}
    try:
        with replacing(path) as temporary:
            figure.savefig(temporary, metadata=without_date)
    except OSError as error:
        raise ResultsError(
            f"{path}: cannot be written: {error.strerror}; name a folder with room by --out"
        ) from error
    return path
