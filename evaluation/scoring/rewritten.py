"""Scores of the same detectors on public, perturbed and planted programs, side by side."""

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evaluation.records import CheckRecord, Records
from evaluation.scoring.chosen import rejected
from evaluation.scoring.outcomes import ROW, label, outcomes, since
from evaluation.scoring.report import MOST_ROWS, ScoreTable, rate, share
from evaluation.scoring.scores import scores

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("public", "perturbed", "planted")
# Columns for each kind of programs.
COLUMNS = (
    "detected", "detected_n", "detected_low", "detected_high",
    "paired", "paired_n", "paired_low", "paired_high", "false_fixed", "false_fixed_n",
)  # fmt: skip
FILE = "side-by-side.csv"


def side_by_side(records: Records) -> "pd.DataFrame":
    """One row a detector, kind of references and rule; columns begin with a kind of programs.

    If the detector met perturbed programs, a public program counts only if the detector met it
    perturbed, too: rates are compared on the same programs. A program by several seeds counts as
    several programs.
    """
    import pandas as pd

    parts = {}
    for kind, checks in _by_kind(records.checks).items():
        if checks:
            parts[kind] = outcomes(checks, records.rules)
    tables = []
    for kind, outcome_table in parts.items():
        table = scores(outcome_table)[[*ROW, *COLUMNS]]
        tables.append(table.set_index(ROW).add_prefix(f"{kind}_"))
    joined = pd.concat(tables, axis=1).sort_index()
    counts = [name for name in joined if not str(name).endswith(("_low", "_high"))]
    rows = pd.concat(parts.values()).groupby(ROW)
    marks = rows.agg(oracle=("oracle", "any"), rule_since=("rule_since", since))
    rates = joined.astype(dict.fromkeys(counts, "Int64"))
    return marks.join(rates).reset_index()


def to_read(table: "pd.DataFrame", scored: "pd.DataFrame | None" = None) -> ScoreTable:
    """A line for each row: for each kind of programs the hits with their interval, and PAIRED.

    If the scores of public programs have many rows, rules that were not chosen are left out.
    """
    if scored is not None and len(scored) > MOST_ROWS:
        table = without(table, rejected(scored))
    heading = ["DETECTOR"]
    for kind in KINDS:
        heading += [kind.upper(), "PAIRED"]
    lines = []
    for _, row in table.iterrows():
        line = [label(row)]
        for kind in KINDS:
            line += _cells(row, kind)
        lines.append(line)
    return ScoreTable(
        "Cases found in programs as published, rewritten, and with planted faults",
        [heading, *lines],
    )


def without(table: "pd.DataFrame", rows: Set[tuple[str, ...]]) -> "pd.DataFrame":
    """The table without these rows: detector, references and rule."""
    keys = table[ROW].itertuples(index=False, name=None)
    return table[[key not in rows for key in keys]]


def _cells(row: "pd.Series[Any]", kind: str) -> tuple[str, str]:
    import pandas as pd

    if pd.isna(row.get(f"{kind}_detected_n")):
        return "-", "-"
    show_detected = rate(f"{kind}_detected")
    show_paired = share(f"{kind}_paired", f"{kind}_detected_n")
    return show_detected(row), show_paired(row)


def _by_kind(checks: Sequence[CheckRecord]) -> dict[str, list[CheckRecord]]:
    """The checks by the kind of programs; a rewritten program by another seed counts as another
    case.
    """
    parts: dict[str, list[CheckRecord]] = {kind: [] for kind in KINDS}
    for check in checks:
        seed = check.perturb if check.plant is None else check.plant
        case = check.case if seed is None else f"{check.case}@{seed}"
        parts[check.rewriting].append(replace(check, case=case))
    perturbed_programs = {_program(check) for check in checks if check.perturb is not None}
    perturbed_rows = {(check.detector, check.references) for check in parts["perturbed"]}
    public = []
    for check in parts["public"]:
        is_in_perturbed_row = (check.detector, check.references) in perturbed_rows
        if not is_in_perturbed_row or _program(check) in perturbed_programs:
            public.append(check)
    return {**parts, "public": public}


def _program(record: CheckRecord) -> tuple[str, ...]:
    return (
        record.detector,
        record.references,
        record.kind,
        record.bug,
        record.case,
        str(record.seed),
    )
