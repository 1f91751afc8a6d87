"""What a seed changes: how often the answers agree on cases that were met by several seeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.outcomes import ROW, label, since, with_twins
from evaluation.scoring.report import MOST_ROWS, ScoreTable, share

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

    if outcomes.empty:
        return pd.DataFrame()
    harmful = outcomes[~outcomes.benign]
    buggy = _answers(with_twins(harmful), "paired")
    fixed = harmful[harmful.kind == "fixed"]
    is_ok = (fixed.status == "ok").groupby([fixed[name] for name in (*ROW, *CASE)])
    accused = _answers(fixed[is_ok.transform("all")], "alarmed")
    marks = outcomes.groupby(ROW).agg(oracle=("oracle", "any"), rule_since=("rule_since", since))
    rows = []
    for key, mark in zip(marks.index, marks.itertuples(), strict=True):
        if key in buggy:
            most = max(len(answers) for answers in buggy[key])
            agreement = {"oracle": bool(mark.oracle), "rule_since": mark.rule_since, "seeds": most}
            agreement |= _counts("paired", buggy[key])
            agreement |= _counts("false_fixed", accused.get(key, []))
            rows.append(dict(zip(ROW, key, strict=True)) | agreement)
    return pd.DataFrame(rows)


def _answers(programs: "pd.DataFrame", column: str) -> dict[tuple[str, ...], list[list[bool]]]:
    """By row, what the column says of each case with several seeds; the first seed first."""
    answers: dict[tuple[str, ...], dict[tuple[str, ...], list[bool]]] = {}
    ordered = programs.sort_values("seed", kind="stable")
    columns = [ordered[name] for name in (*ROW, *CASE, column)]
    for *names, holds in zip(*columns, strict=True):
        row, case = tuple(names[: len(ROW)]), tuple(names[len(ROW) :])
        answers.setdefault(row, {}).setdefault(case, []).append(bool(holds))
    by_several = {}
    for row, cases in answers.items():
        several = [seeds for seeds in cases.values() if len(seeds) > 1]
        if several:
            by_several[row] = several
    return by_several


def _counts(name: str, answers: Sequence[Sequence[bool]]) -> dict[str, int]:
    """On how many cases it holds by the first seed, by every seed, and by one at least."""
    return {
        f"{name}_first": sum(seeds[0] for seeds in answers),
        f"{name}_always": sum(all(seeds) for seeds in answers),
        f"{name}_ever": sum(any(seeds) for seeds in answers),
        f"{name}_n": len(answers),
    }


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
