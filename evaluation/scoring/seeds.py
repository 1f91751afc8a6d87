"""What a seed changes: of cases that were met by several seeds, how often the answers agree."""

from typing import TYPE_CHECKING, Any

from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.report import MOST_ROWS, ScoreTable, share
from evaluation.scoring.scores import ROW, label, since, with_twins

if TYPE_CHECKING:
    import pandas as pd

FILE = "seeds.csv"
CASE = ["bug", "case"]
# Headings of answers that hold by the first seed, by every seed, by at least one of them.
HEADINGS = {"first": "FIRST", "always": "EVERY", "ever": "ANY"}


def by_seed(outcomes: "pd.DataFrame") -> "pd.DataFrame":
    """One row a detector, kind of references and rule that met cases by several seeds; empty where none did.

    Of such cases, the benign ones aside, it is PAIRED on so many by the `first` seed, `always` (by every seed) and
    `ever` (by one of them at least), and accuses so many fixed programs. Of these those count on which it ran by every
    seed.
    """
    import pandas as pd

    groups = outcomes.groupby(ROW, sort=True) if len(outcomes) else ()
    rows = []
    for key, group in groups:
        agreement = _agreement(group)
        if agreement:
            rows.append(dict(zip(ROW, key, strict=True)) | agreement)
    return pd.DataFrame(rows)


def _agreement(group: "pd.DataFrame") -> dict[str, Any]:
    """How the answers of a row agree; empty where it met no case by several seeds."""
    buggy = _by_several(with_twins(group[~group.benign]))
    if buggy.empty:
        return {}
    fixed = _by_several(group[(group.kind == "fixed") & ~group.benign])
    ran = (fixed.status == "ok").groupby([fixed[name] for name in CASE]).transform("all")
    return {
        "oracle": bool(group.oracle.any()),
        "rule_since": since(group.rule_since),
        "seeds": int(buggy.groupby(CASE).seed.nunique().max()),
        **_counts("paired", buggy, "paired"),
        **_counts("false_fixed", fixed[ran], "alarmed"),
    }


def _by_several(programs: "pd.DataFrame") -> "pd.DataFrame":
    """The programs of cases with several seeds, the first seed first."""
    seed_counts = programs.groupby(CASE).seed.transform("nunique")
    return programs[seed_counts > 1].sort_values("seed")


def _counts(name: str, programs: "pd.DataFrame", column: str) -> dict[str, int]:
    """On how many cases the column holds by the first seed, by every seed, and by one at least."""
    answers = programs[column].astype(bool).groupby([programs[key] for key in CASE])
    return {
        f"{name}_first": int(answers.first().sum()),
        f"{name}_always": int(answers.all().sum()),
        f"{name}_ever": int(answers.any().sum()),
        f"{name}_n": answers.ngroups,
    }


def to_read(table: "pd.DataFrame", scores: "pd.DataFrame") -> ScoreTable:
    """A line for each row; of many rows those are left out in whose place another rule is chosen by the scores."""
    if len(scores) > MOST_ROWS:
        table = table.merge(without_rejected(scores)[ROW], on=ROW)
    columns = {}
    for name, title in (("paired", "PAIRED"), ("false_fixed", "ON FIXED")):
        for agreement, heading in HEADINGS.items():
            columns[f"{title}, {heading}"] = share(f"{name}_{agreement}", f"{name}_n")
    heading_row = ["DETECTOR", *columns]
    lines = []
    for _, row in table.iterrows():
        lines.append([label(row), *(show(row) for show in columns.values())])
    return ScoreTable("Cases that were met by several seeds", [heading_row, *lines])
