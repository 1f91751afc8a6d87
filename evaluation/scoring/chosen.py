"""Which of a detector's rules are chosen: those by which it is meant to be used.

No answer has a say in it: a rule that is chosen by its hits is fitted to them.
"""

from typing import TYPE_CHECKING, Any

from evaluation.catalog.rule_settings import Settings, main_rules

if TYPE_CHECKING:
    import pandas as pd

# A detector with one kind of references: rules are chosen for each.
DETECTOR = ["detector", "references"]


def mark_chosen(scores: "pd.DataFrame", settings: Settings) -> "pd.Series[Any]":
    """Whether the rule of a row is chosen: it is declared in `settings`, or is called `default`.

    Empty where a detector has one rule, or none of its rules is declared: then all are shown.
    """
    marks: dict[Any, bool | None] = dict.fromkeys(scores.index)
    for (detector, _), rows in scores.groupby(DETECTOR):
        rules = main_rules(settings, str(detector))
        is_main = rows.rule.isin(rules)
        if len(rows) > 1 and is_main.any():
            marks |= is_main.to_dict()
    rows_marks = scores.index.to_series().map(marks)
    return rows_marks.astype("boolean")


def paired_ranges(scores: "pd.DataFrame") -> "pd.DataFrame":
    """The fewest and the most PAIRED that any rule of the same detector and references has."""
    import pandas as pd

    paired = scores.groupby(DETECTOR).paired
    least, most = paired.transform("min"), paired.transform("max")
    return pd.DataFrame({"paired_least": least, "paired_most": most})


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
