"""The bugs that detectors find by their chosen rules."""

from typing import TYPE_CHECKING

from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.outcomes import ROW, with_twins

if TYPE_CHECKING:
    import pandas as pd


def found_bugs(outcomes: "pd.DataFrame", scores: "pd.DataFrame") -> frozenset[str]:
    """The bugs of which some row of a chosen rule is PAIRED on at least one case.

    Benign cases do not count, as in the scores.
    """
    chosen_rows = without_rejected(scores)[ROW]
    answers = with_twins(outcomes).merge(chosen_rows, on=ROW)
    found = answers[answers.paired & ~answers.benign]
    return frozenset(found.bug)
