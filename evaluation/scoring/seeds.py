"""What a seed changes: of cases that were met by several seeds, how often the answers agree."""

from typing import TYPE_CHECKING, Any

from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.report import MOST_ROWS, Table, share
from evaluation.scoring.scores import ROW, label, since, with_twins

if TYPE_CHECKING:
    import pandas as pd

FILE = "seeds.csv"
CASE = ["bug", "case"]
# What holds by the first seed, by each of them, by one of them at least.
HELD = {"first": "FIRST", "always": "EVERY", "ever": "ANY"}


def by_seed(outcomes: "pd.DataFrame") -> "pd.DataFrame":
    """One row a detector, kind of references and rule that met cases by several seeds; empty where none did.

    Of such cases, the benign ones aside, it is PAIRED on so many by the `first` seed, `always` (by every seed) and
    `ever` (by one of them at least), and accuses so many fixed programs. Of these those count on which it ran by every
    seed.
    """
    import pandas as pd

    found = (
        (key, _agreement(group))
        for key, group in (outcomes.groupby(ROW, sort=True) if len(outcomes) else ())
    )
    return pd.DataFrame([dict(zip(ROW, key, strict=True)) | row for key, row in found if row])


def _agreement(group: "pd.DataFrame") -> dict[str, Any]:
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
    """Those of cases with several seeds, the first seed first."""
    return programs[programs.groupby(CASE).seed.transform("nunique") > 1].sort_values("seed")


def _counts(name: str, programs: "pd.DataFrame", column: str) -> dict[str, int]:
    """On how many cases the column holds by the first seed, by every seed, and by one at least."""
    answers = programs[column].astype(bool).groupby([programs[key] for key in CASE])
    held = {"first": answers.first(), "always": answers.all(), "ever": answers.any()}
    return {f"{name}_{how}": int(each.sum()) for how, each in held.items()} | {
        f"{name}_n": answers.ngroups
    }


def to_read(table: "pd.DataFrame", scores: "pd.DataFrame") -> Table:
    """A line for each row; of many rows those are left out in whose place another rule is chosen by the scores."""
    if len(scores) > MOST_ROWS:
        table = table.merge(without_rejected(scores)[ROW], on=ROW)
    show = [
        share(f"{name}_{how}", f"{name}_n") for name in ("paired", "false_fixed") for how in HELD
    ]
    heading = [
        "DETECTOR",
        *(f"{what}, {how}" for what in ("PAIRED", "ON FIXED") for how in HELD.values()),
    ]
    lines = [[label(row), *(each(row) for each in show)] for _, row in table.iterrows()]
    return Table("Cases that were met by several seeds", [heading, *lines])
