"""Figures of detectors: a matrix by locations of bugs, every case on a page, rates with intervals,
delays.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from evaluation.scoring.chosen import without_rejected
from plots.detector_delays import delays_figure
from plots.detector_matrix import matrix_figure
from plots.detector_page import DOTS, page_figure
from plots.detector_rates import rates_figure
from plots.style import COLUMN_DOTS, column, save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

DetectorFigure: TypeAlias = Literal["matrix", "page", "rates", "delays"]
NAMES: Final[tuple[DetectorFigure, ...]] = get_args(DetectorFigure)
# The figures that fit a column of a paper. `page` has a column for each rule: with all detectors it
# is three times as wide as a page.
PAPER_NAMES: Final[tuple[DetectorFigure, ...]] = ("matrix", "rates", "delays")


def draw(
    outcomes: "pd.DataFrame",
    scores: "pd.DataFrame",
    directory: Path,
    kind: str,
    locations: Mapping[str, str],
    names: Sequence[DetectorFigure] = NAMES,
) -> list[Path]:
    """Draw the figures `names` as files of that kind, if there are buggy programs,
    and return the files.

    Of rules among which one is chosen only the page has the others. `outcomes` and `scores` are the
    tables of evaluation.scoring.scores; `locations` has the location of each bug. Delays are drawn
    where some alarm has an iteration.
    """
    paths = []
    for name in names:
        # The settings hold while the file is written, too.
        with column(_dots(name)):
            drawn = detector_figure(name, outcomes, scores, locations)
            if drawn:
                paths.append(save(drawn, directory / f"{name}.{kind}"))
    return paths


def detector_figure(
    name: DetectorFigure,
    outcomes: "pd.DataFrame",
    scores: "pd.DataFrame",
    locations: Mapping[str, str],
) -> "Figure | None":
    """One of the figures, as `draw` writes it; None where there is nothing to draw."""
    if not (outcomes.kind == "buggy").any():
        return None
    shown = without_rejected(scores)
    with column(_dots(name)):
        match name:
            case "matrix":
                return matrix_figure(outcomes, shown, locations)
            case "page":
                return page_figure(outcomes, scores)
            case "rates":
                return rates_figure(outcomes, shown)
            case "delays":
                return delays_figure(outcomes, shown)


def _dots(name: DetectorFigure) -> int:
    """Dots an inch."""
    return DOTS if name == "page" else COLUMN_DOTS
