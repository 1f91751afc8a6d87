"""What a seed changes: how often the answers agree on cases that were met by several seeds."""

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
    """One row a detector, kind of references and rule that met cases by several seeds.

    Benign cases do not count. The columns count PAIRED cases and accused fixed programs: by the
    `first` seed, `always` (by every seed) and `ever` (by at least one seed). A fixed program counts
    only if the detector ran on it by every seed.
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
    is_ok = fixed.status == "ok"
    ran = is_ok.groupby(_keys(fixed)).transform("all")
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
    holds = programs[column].astype(bool)
    answers = holds.groupby(_keys(programs))
    return {
        f"{name}_first": int(answers.first().sum()),
        f"{name}_always": int(answers.all().sum()),
        f"{name}_ever": int(answers.any().sum()),
        f"{name}_n": answers.ngroups,
    }


def _keys(programs: "pd.DataFrame") -> "list[pd.Series[Any]]":
    """The columns that identify a case, to group by."""
    return [programs[name] for name in CASE]


def to_read(table: "pd.DataFrame", scores: "pd.DataFrame") -> ScoreTable:
    """A line for each row; if the scores have many rows,
    rules that were not chosen are left out.
    """
    if len(scores) > MOST_ROWS:
        shown = without_rejected(scores)
        table = table.merge(shown[ROW], on=ROW)
    columns = {}
    for name, title in (("paired", "PAIRED"), ("false_fixed", "ON FIXED")):
        for agreement, heading in HEADINGS.items():
            columns[f"{title}, {heading}"] = share(f"{name}_{agreement}", f"{name}_n")
    heading_row = ["DETECTOR", *columns]
    lines = []
    for _, row in table.iterrows():
        lines.append([label(row), *(show(row) for show in columns.values())])
    return ScoreTable("Cases that were met by several seeds", [heading_row, *lines])
