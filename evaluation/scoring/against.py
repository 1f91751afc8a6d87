"""One detector against others: what it misses and others find, what none finds, and each pair."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.scoring.comparison import comparisons
from evaluation.scoring.exact_test import holm
from evaluation.scoring.outcomes import ROW, label, with_twins
from evaluation.scoring.report import ScoreTable
from runner.errors import UsageError
from runner.files.schema_errors import near

if TYPE_CHECKING:
    import pandas as pd

VERSUS_FILE, CASES_FILE = "against.csv", "cases.csv"


@dataclass(frozen=True)
class Against:
    """Some detectors of yours against others, by the rules by which each is meant to be used.

    `versus` has a row a pair, as `comparisons` has them, with `p_holm` over these pairs alone;
    `cases` a row for each case that does harm: which rows of yours and which others are PAIRED, and
    whether another row met it.
    """

    versus: "pd.DataFrame"
    cases: "pd.DataFrame"

    @property
    def missed(self) -> "pd.DataFrame":
        """The cases that others find and yours do not."""
        return self.cases[(self.cases.mine == "") & (self.cases.others != "")]

    @property
    def found_by_nobody(self) -> "pd.DataFrame":
        """The cases that others met, too, and on which no row is PAIRED."""
        unfound = (self.cases.mine == "") & (self.cases.others == "")
        return self.cases[unfound & self.cases.met_by_others.astype(bool)]


def refuse_absent(mine: Sequence[str], recorded: Set[str], option: str) -> None:
    """Raise UsageError where one of the detectors `mine`, or every other one, has no records;
    `option` names their folder.
    """
    absent = sorted({*mine} - recorded)
    if absent:
        named = ", ".join(f"{name}{near(name, recorded)}" for name in absent)
        raise UsageError(
            f"there are no records of {named}; `trainbugs evaluate` makes some, and {option} "
            "names their folder"
        )
    if not recorded - set(mine):
        raise UsageError(f"there are no records of any detector beside {', '.join(mine)}")


def compare_against(table: "pd.DataFrame", scores: "pd.DataFrame", mine: Sequence[str]) -> Against:
    """The detectors named `mine` against all others of the outcomes `table`.

    Negative controls are left out, unless they are yours, and so are rules that are not a
    detector's own setting. A case counts if one of yours was shown it.
    """
    rejected = scores[scores.chosen == False][ROW]  # noqa: E712
    rejected_rows = set(rejected.itertuples(index=False, name=None))
    keys = table[ROW].itertuples(index=False, name=None)
    is_shown = [
        key not in rejected_rows and (key[0] in mine or key[0] not in NEGATIVE_CONTROLS)
        for key in keys
    ]
    shown = table[is_shown]
    return Against(_versus(shown, mine), _cases(shown, mine))


def _versus(table: "pd.DataFrame", mine: Sequence[str]) -> "pd.DataFrame":
    """The pairs of one row of yours and another one, yours first; the other alone is last."""
    firsts = table.drop_duplicates(ROW)
    own_names = {label(row) for _, row in firsts[firsts.detector.isin(mine)].iterrows()}
    compared = comparisons(table)
    paired = compared[compared.measure == "paired"].drop(columns=["measure", "p_holm"])
    is_first, is_second = paired["first"].isin(own_names), paired.second.isin(own_names)
    swapped = paired[is_second & ~is_first].rename(columns=_swapped_columns())
    own_first = paired[is_first & ~is_second]
    rows = [own_first, swapped[own_first.columns]]
    versus = _concatenated(rows).sort_values(["first", "second"], ignore_index=True)
    return versus.assign(p_holm=holm(versus.p_bugs.tolist()))


def _swapped_columns() -> dict[str, str]:
    """New names of the columns of a pair whose second row is yours."""
    pairs = (("first", "second"), ("only_first", "only_second"), ("bugs_first", "bugs_second"))
    return dict(pairs) | {second: first for first, second in pairs}


def _concatenated(parts: "Iterable[pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd

    return pd.concat(list(parts))


def _cases(table: "pd.DataFrame", mine: Sequence[str]) -> "pd.DataFrame":
    """A row a harmful case that one of yours was shown: who finds it."""
    import pandas as pd

    buggy = with_twins(table)
    finders: dict[str, dict[bool, list[str]]] = {}
    for _, row in buggy[~buggy.benign].iterrows():
        found_by = finders.setdefault(f"{row.bug}/{row.case}", {})
        names = found_by.setdefault(row.detector in mine, [])
        if row.paired and label(row) not in names:
            names.append(label(row))
    rows = []
    for case, found_by in sorted(finders.items()):
        if True in found_by:
            others = found_by.get(False, [])
            rows.append(
                {
                    "case": case,
                    "mine": ", ".join(found_by[True]),
                    "others": ", ".join(others),
                    "other_rows": len(others),
                    "met_by_others": False in found_by,
                }
            )
    return pd.DataFrame(rows, columns=["case", "mine", "others", "other_rows", "met_by_others"])


def tables(against: Against) -> list[ScoreTable]:
    """The pairs, the cases that others find, and the cases that none of them finds, to be read."""
    heading = ["FIRST", "SECOND", "N", "ALONE", "FAMILIES", "P", "HOLM"]
    pairs = [heading]
    for _, row in against.versus.iterrows():
        alone = f"{row.only_first}:{row.only_second}"
        families = f"{row.bugs_first}:{row.bugs_second}"
        p_values = [f"{row.p_bugs:.2g}", f"{row.p_holm:.2g}"]
        pairs.append([row["first"], row.second, str(row.programs), alone, families, *p_values])
    missed = [["CASE", "ROWS", "FOUND BY"]]
    for _, row in against.missed.iterrows():
        missed.append([row.case, str(row.other_rows), row.others])
    nobody = [["CASE"], *([case] for case in against.found_by_nobody.case)]
    shown = [
        ScoreTable("Pairs of rows: cases on which one alone is PAIRED", pairs),
        ScoreTable("Cases that others find, and yours do not", missed),
        ScoreTable("Cases that none of these rows finds", nobody),
    ]
    return [table for table in shown if len(table.rows) > 1]
