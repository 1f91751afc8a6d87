"""Two detectors on the programs that both met: McNemar's exact test, by programs and by bugs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evaluation.model import CONTROL
from evaluation.scoring.chosen import rejected
from evaluation.scoring.exact_test import family_test, holm
from evaluation.scoring.families import families
from evaluation.scoring.outcomes import PROGRAM, ROW, label, with_twins

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

    programs = list(_programs_by_row(table)) if len(table) else []
    rows: list[dict[str, Any]] = []
    for first, second in combinations(programs, 2):
        rows += _compare(first[1:], second[1:])
    compared = pd.DataFrame(rows, columns=COLUMNS)
    rejected_rows = rejected(scores)
    rejected_names = {name for row, name, _ in programs if row in rejected_rows}
    is_first_rejected = compared["first"].isin(rejected_names)
    is_second_rejected = compared.second.isin(rejected_names)
    counted = compared[~(is_first_rejected | is_second_rejected)]
    p_bugs = counted.groupby("measure").p_bugs
    adjusted = p_bugs.transform(lambda values: holm(values.tolist()))
    return compared.assign(p_holm=adjusted)


def _programs_by_row(
    table: "pd.DataFrame",
) -> Iterator[tuple[tuple[str, ...], str, dict[str, Programs]]]:
    """Each row of scores, its name, and its programs for each measure, without benign ones."""
    buggy = with_twins(table)
    ran = table[table.status == "ok"]
    parts = {
        "detected": _parts(buggy[~buggy.benign], "hit"),
        "paired": _parts(buggy[~buggy.benign], "paired"),
        "false_fixed": _parts(ran[ran.kind == "fixed"], "alarmed"),
        "false_controls": _parts(ran[ran.kind == CONTROL], "alarmed"),
    }
    firsts = table.drop_duplicates(ROW).sort_values(ROW)
    for _, first in firsts.iterrows():
        row = tuple(first[ROW])
        yield row, label(first), {measure: rows.get(row, {}) for measure, rows in parts.items()}


def _parts(part: "pd.DataFrame", hit: str) -> Mapping[tuple[str, ...], Programs]:
    """The programs of a part of the outcomes, by row of scores."""
    by_row: dict[tuple[str, ...], dict[tuple[str, str, int], MetProgram]] = {}
    columns = [part[column] for column in (*ROW, *PROGRAM)]
    names = zip(*columns, strict=True)
    details = zip(part.program, families(part), part[hit].astype(bool), strict=True)
    for name, (text, cluster, is_hit) in zip(names, details, strict=True):
        row, program = name[: len(ROW)], name[len(ROW) :]
        known_text = text if isinstance(text, str) else None
        by_row.setdefault(row, {})[program] = MetProgram(known_text, cluster, is_hit)
    return by_row


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
    tested = family_test((first.cluster, first.hit, second.hit) for first, second in both)
    return {
        "programs": len(both),
        "bugs": tested.families,
        "both": tested.both,
        "only_first": tested.only_first,
        "only_second": tested.only_second,
        "neither": tested.neither,
        "p": tested.p,
        "bugs_first": tested.families_first,
        "bugs_second": tested.families_second,
        "p_bugs": tested.p_families,
    }
