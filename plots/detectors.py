"""Figures of detectors: a matrix by families of bugs, every case on a page, rates with intervals,
delays.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.scoring.chosen import without_rejected
from plots.detector_delays import draw_delays
from plots.detector_matrix import draw_matrix
from plots.detector_page import draw_page
from plots.detector_rates import draw_rates

if TYPE_CHECKING:
    import pandas as pd


def draw(
    outcomes: "pd.DataFrame",
    scores: "pd.DataFrame",
    directory: Path,
    kind: str,
    families: Mapping[str, str],
) -> list[Path]:
    """Draw matrix, page, rates and delays as files of that kind, if there are buggy programs,
    and return the files.

    Of rules among which one is chosen only the page has the others. `outcomes` and `scores` are the
    tables of evaluation.scoring.scores; `families` has the family of each bug. Delays are drawn
    where some alarm has an iteration.
    """
    if not (outcomes.kind == "buggy").any():
        return []
    shown = without_rejected(scores)
    paths = [
        draw_matrix(outcomes, shown, families, directory / f"matrix.{kind}"),
        draw_page(outcomes, scores, directory / f"page.{kind}"),
        draw_rates(outcomes, shown, directory / f"rates.{kind}"),
        draw_delays(outcomes, shown, directory / f"delays.{kind}"),
    ]
    return [path for path in paths if path]
