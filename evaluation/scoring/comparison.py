"""Two detectors on the programs that both met: McNemar's exact test, by programs and by bugs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from evaluation.model import CONTROL
from evaluation.scoring.chosen import rejected
from evaluation.scoring.scores import PROGRAM, ROW, label, with_twins

if TYPE_CHECKING:
    import pandas as pd

# What is compared; false alarms only where both ran, since a detector that did not has accused nothing.
MEASURES = ("detected", "paired", "false_fixed", "false_controls")
COLUMNS = [
    "measure", "first", "second", "programs", "bugs", "both", "only_first", "only_second", "neither", "p",
    "bugs_first", "bugs_second", "p_bugs",
]  # fmt: skip


@dataclass(frozen=True)
class Met:
    """A program that a detector met: the digest of its text (None: not noted), its cluster, whether it is a hit."""

    text: str | None
    cluster: str
    hit: bool


# Programs by bug, case and seed.
Programs = Mapping[tuple[str, str, int], Met]


def comparisons(table: "pd.DataFrame", scores: "pd.DataFrame | None" = None) -> "pd.DataFrame":
    """A row for each pair of rows of the scores that met a program in common, and each of MEASURES.

    `only_first` counts the programs on which the first one alone alarms. `p` is McNemar's of programs, `p_bugs` that of
    bugs: each counts once, for whoever alarms on more of its programs, since cases of one bug are not independent.
    `p_holm` is `p_bugs` after Holm (1979), for all pairs of that measure together. With the `scores` of the table pairs
    with a rule in whose place another one is chosen have none, and do not count: nobody asks about these.
    """
    import pandas as pd

    groups = list(table.groupby(ROW, sort=True)) if len(table) else []
    rows = [(label(group.iloc[0]), _measured(group)) for _, group in groups]
    compared = pd.DataFrame(
        [each for pair in combinations(rows, 2) for each in _compared(*pair)], columns=COLUMNS
    )
    given_up = rejected(scores)
    names = {label(group.iloc[0]) for row, group in groups if row in given_up}
    asked = compared[~(compared["first"].isin(names) | compared.second.isin(names))]
    return compared.assign(
        p_holm=asked.groupby("measure").p_bugs.transform(lambda values: holm(values.tolist()))
    )


def _measured(group: "pd.DataFrame") -> dict[str, Programs]:
    """The programs of a row of scores for each measure, without benign ones."""
    buggy, ran = with_twins(group), group[group.status == "ok"]
    buggy = buggy[~buggy.benign]
    return {
        "detected": _programs(buggy, "hit"),
        "paired": _programs(buggy, "paired"),
        "false_fixed": _programs(ran[ran.kind == "fixed"], "alarmed"),
        "false_controls": _programs(ran[ran.kind == CONTROL], "alarmed"),
    }


def _programs(part: "pd.DataFrame", hit: str) -> Programs:
    clusters = part.case.where(part.kind == CONTROL, part.bug)
    texts = [text if isinstance(text, str) else None for text in part.program]
    names = zip(*(part[name] for name in PROGRAM), strict=True)
    return dict(zip(names, map(Met, texts, clusters, part[hit].astype(bool)), strict=True))


def _compared(
    first: tuple[str, dict[str, Programs]], second: tuple[str, dict[str, Programs]]
) -> Iterator[Any]:
    for measure in MEASURES:
        both = met_by_both(first[1][measure], second[1][measure])
        if both:
            yield {"measure": measure, "first": first[0], "second": second[0], **_tested(both)}


def met_by_both(first: Programs, second: Programs) -> list[tuple[Met, Met]]:
    """The programs that both met, of the same text, as far as that was noted."""
    pairs = [(met, second[name]) for name, met in first.items() if name in second]
    return [
        (one, other)
        for one, other in pairs
        if not (one.text and other.text) or one.text == other.text
    ]


def _tested(both: list[tuple[Met, Met]]) -> dict[str, Any]:
    of = Counter((one.hit, other.hit) for one, other in both)
    ahead: Counter[str] = Counter()
    for one, other in both:
        ahead[one.cluster] += one.hit - other.hit
    bugs_first, bugs_second = (sum(sign * lead > 0 for lead in ahead.values()) for sign in (1, -1))
    return {
        "programs": len(both),
        "bugs": len(ahead),
        "both": of[True, True],
        "only_first": of[True, False],
        "only_second": of[False, True],
        "neither": of[False, False],
        "p": mcnemar(of[True, False], of[False, True]),
        "bugs_first": bugs_first,
        "bugs_second": bugs_second,
        "p_bugs": mcnemar(bugs_first, bugs_second),
    }


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p of McNemar's test (1947), exact: those that differ fall to either side as a fair coin does."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    # Whole numbers first: of thousands of programs a float would overflow.
    p: float = 2 * sum(comb(n, k) for k in range(fewer + 1)) / (1 << n)
    return min(1.0, p)


def holm(values: list[float]) -> list[float]:
    """P-values adjusted for as many tests, after Holm (1979)."""
    adjusted, largest = [0.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = largest
    return adjusted
