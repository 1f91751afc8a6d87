"""Two detectors on the programs that both met: McNemar's exact test, by programs and by bugs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from evaluation.model import CONTROL
from evaluation.scoring.chosen import rejected
from evaluation.scoring.families import families
from evaluation.scoring.scores import PROGRAM, ROW, label, with_twins

if TYPE_CHECKING:
    import pandas as pd

# Measures that are compared. False alarms count only where both ran: a detector that did not run
# has accused nothing.
MEASURES = ("detected", "paired", "false_fixed", "false_controls")
COLUMNS = [
    "measure", "first", "second", "programs", "bugs", "both", "only_first", "only_second",
    "neither", "p", "bugs_first", "bugs_second", "p_bugs",
]  # fmt: skip


@dataclass(frozen=True)
class MetProgram:
    """A program that a detector met: the digest of its text (None: not noted), its cluster,
    whether it is a hit.
    """

    text: str | None
    cluster: str
    hit: bool


# Programs by bug, case and seed.
Programs = Mapping[tuple[str, str, int], MetProgram]
Both = list[tuple[MetProgram, MetProgram]]


def comparisons(table: "pd.DataFrame", scores: "pd.DataFrame | None" = None) -> "pd.DataFrame":
    """A row for each of MEASURES, and each pair of rows of the scores that met a program in common.

    `only_first` counts the programs on which the first row alone alarms. `p` is McNemar's p over
    programs, `p_bugs` over families of bugs. A family counts once, for the row that alarms on more
    of its programs, since they are not independent. `p_holm` is `p_bugs` after Holm (1979), over
    all pairs of a measure. If you pass the `scores` of the table, pairs with a rule that was not
    chosen have no `p_holm`, and do not count in it: nobody asks about them.
    """
    import pandas as pd

    groups = list(table.groupby(ROW, sort=True)) if len(table) else []
    programs = [(label(group.iloc[0]), _programs_by_measure(group)) for _, group in groups]
    rows: list[dict[str, Any]] = []
    for first, second in combinations(programs, 2):
        rows += _compare(first, second)
    compared = pd.DataFrame(rows, columns=COLUMNS)
    rejected_rows = rejected(scores)
    rejected_names = {label(group.iloc[0]) for row, group in groups if row in rejected_rows}
    is_first_rejected = compared["first"].isin(rejected_names)
    is_second_rejected = compared.second.isin(rejected_names)
    counted = compared[~(is_first_rejected | is_second_rejected)]
    p_bugs = counted.groupby("measure").p_bugs
    adjusted = p_bugs.transform(lambda values: holm(values.tolist()))
    return compared.assign(p_holm=adjusted)


def _programs_by_measure(group: "pd.DataFrame") -> dict[str, Programs]:
    """The programs of a row of scores for each measure, without benign ones."""
    buggy = with_twins(group)
    harmful = buggy[~buggy.benign]
    ran = group[group.status == "ok"]
    fixed = ran[ran.kind == "fixed"]
    controls = ran[ran.kind == CONTROL]
    return {
        "detected": _programs(harmful, "hit"),
        "paired": _programs(harmful, "paired"),
        "false_fixed": _programs(fixed, "alarmed"),
        "false_controls": _programs(controls, "alarmed"),
    }


def _programs(part: "pd.DataFrame", hit: str) -> Programs:
    texts = [text if isinstance(text, str) else None for text in part.program]
    columns = [part[column] for column in PROGRAM]
    names = zip(*columns, strict=True)
    hits = part[hit].astype(bool)
    programs = map(MetProgram, texts, families(part), hits)
    return dict(zip(names, programs, strict=True))


def _compare(
    first: tuple[str, dict[str, Programs]], second: tuple[str, dict[str, Programs]]
) -> Iterator[dict[str, Any]]:
    """A row of the table for each measure; `first` and `second` are rows of scores with their
    names.
    """
    first_name, first_programs = first
    second_name, second_programs = second
    for measure in MEASURES:
        both = met_by_both(first_programs[measure], second_programs[measure])
        if both:
            names = {"measure": measure, "first": first_name, "second": second_name}
            yield names | _test(both)


def met_by_both(first: Programs, second: Programs) -> Both:
    """The programs that both met, of the same text, as far as that was noted."""
    pairs = []
    for name, program in first.items():
        counterpart = second.get(name)
        if counterpart and _may_be_same(program.text, counterpart.text):
            pairs.append((program, counterpart))
    return pairs


def _may_be_same(text: str | None, other_text: str | None) -> bool:
    """Whether two texts are the same; a text that was not noted may be any."""
    if not text or not other_text:
        return True
    return text == other_text


def _test(both: Both) -> dict[str, Any]:
    """How the two detectors differ on programs, and on bugs."""
    counts = Counter((first.hit, second.hit) for first, second in both)
    # How many more of a bug's programs the first one hit.
    leads: Counter[str] = Counter()
    for first, second in both:
        leads[first.cluster] += first.hit - second.hit
    bugs_first = sum(lead > 0 for lead in leads.values())
    bugs_second = sum(lead < 0 for lead in leads.values())
    only_first, only_second = counts[True, False], counts[False, True]
    return {
        "programs": len(both),
        "bugs": len(leads),
        "both": counts[True, True],
        "only_first": only_first,
        "only_second": only_second,
        "neither": counts[False, False],
        "p": mcnemar(only_first, only_second),
        "bugs_first": bugs_first,
        "bugs_second": bugs_second,
        "p_bugs": mcnemar(bugs_first, bugs_second),
    }


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p of McNemar's exact test (1947):
    programs that differ fall like a fair coin.
    """
    n = only_first + only_second
    fewer = min(only_first, only_second)
    # Whole numbers first: with thousands of programs a float would overflow.
    ways = sum(comb(n, k) for k in range(fewer + 1))
    p: float = 2 * ways / (1 << n)
    return min(1.0, p)


def holm(values: list[float]) -> list[float]:
    """P-values adjusted for as many tests, after Holm (1979)."""
    adjusted = [0.0] * len(values)
    largest = 0.0
    order = sorted(range(len(values)), key=values.__getitem__)
    for rank, index in enumerate(order):
        remaining = len(values) - rank
        corrected = min(1.0, remaining * values[index])
        largest = max(largest, corrected)
        adjusted[index] = largest
    return adjusted
