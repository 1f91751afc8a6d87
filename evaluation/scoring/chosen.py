"""Which of a detector's rules is chosen: the best on known bugs. Other bugs and controls have no
say.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# A detector with one kind of references: rules are chosen for each.
DETECTOR = ["detector", "references"]


def mark_chosen(scores: "pd.DataFrame") -> "pd.Series[Any]":
    """Whether the rule of a row is chosen: it has the most PAIRED on known bugs.

    Among equals the rule with the fewest accused twins of known bugs is chosen, then the first by
    name. Empty where a detector has one rule, where none of its bugs are known, or where its rules
    know different bugs.
    """
    marks: dict[Any, bool | None] = dict.fromkeys(scores.index)
    for _, rows in scores.groupby(DETECTOR):
        known_counts = rows.paired_known_n
        is_fair = known_counts.nunique() == 1 and known_counts.iloc[0]
        if len(rows) > 1 and is_fair:
            best = _best(rows)
            for index in rows.index:
                marks[index] = index == best
    rows_marks = scores.index.to_series().map(marks)
    return rows_marks.astype("boolean")


def _best(rows: "pd.DataFrame") -> Any:
    """The index of the row whose rule is chosen."""
    with_order = rows.assign(missed=-rows.paired_known)
    ranked = with_order.sort_values(["missed", "false_known", "rule"])
    return ranked.index[0]


def without_rejected(scores: "pd.DataFrame") -> "pd.DataFrame":
    """The scores without the rules that were not chosen."""
    is_chosen = scores.chosen.fillna(True)
    return scores[is_chosen.astype(bool)]


def rejected(scores: "pd.DataFrame | None") -> set[tuple[str, ...]]:
    """Detector, references and rule of the rows whose rule was not chosen; none without scores."""
    if scores is None or scores.empty:
        return set()
    rejected_rows = scores[scores.chosen == False]  # noqa: E712
    keys = rejected_rows[[*DETECTOR, "rule"]]
    return set(keys.itertuples(index=False, name=None))
