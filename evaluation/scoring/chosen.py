"""Which of a detector's rules is chosen: the best one on known bugs. No other bug has a say, nor has a control."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# A detector with one kind of references: rules are chosen for each.
DETECTOR = ["detector", "references"]


def mark_chosen(scores: "pd.DataFrame") -> "pd.Series[Any]":
    """Whether a row's rule has the most PAIRED of known bugs; of equals the fewest accused twins of these, by name.

    Empty where a detector has one rule, where none of its bugs are known, or where its rules know different ones.
    """
    marks: dict[Any, bool | None] = dict.fromkeys(scores.index)
    for _, rows in scores.groupby(DETECTOR):
        know_the_same = rows.paired_known_n.nunique() == 1
        if len(rows) > 1 and know_the_same and rows.paired_known_n.iloc[0]:
            missed_first = rows.assign(missed=-rows.paired_known)
            ranked = missed_first.sort_values(["missed", "false_known", "rule"])
            marks |= {index: index == ranked.index[0] for index in rows.index}
    return scores.index.to_series().map(marks).astype("boolean")


def without_rejected(scores: "pd.DataFrame") -> "pd.DataFrame":
    """The scores without the rules in whose place another one is chosen."""
    return scores[scores.chosen.fillna(True).astype(bool)]


def rejected(scores: "pd.DataFrame | None") -> set[tuple[str, ...]]:
    """Detector, references and rule of those in whose place another one is chosen; none without scores."""
    if scores is None or scores.empty:
        return set()
    rejected_rows = scores[scores.chosen == False]  # noqa: E712
    return set(rejected_rows[[*DETECTOR, "rule"]].itertuples(index=False, name=None))
