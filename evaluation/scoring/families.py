"""Families: programs that are not independent of each other, and count as one in the statistics."""

from typing import TYPE_CHECKING

from evaluation.model import CONTROL

if TYPE_CHECKING:
    import pandas as pd


def families(programs: "pd.DataFrame") -> "pd.Series[str]":
    """The family of each row: bugs of one fault in several dresses are one,
    a control is one by itself.
    """
    return programs.case.where(programs.kind == CONTROL, programs.family)
