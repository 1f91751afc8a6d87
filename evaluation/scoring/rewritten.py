"""Scores of the same detectors on public, perturbed and planted programs, side by side."""

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evaluation.records import CheckRecord, Records
from evaluation.scoring.chosen import rejected
from evaluation.scoring.report import MOST_ROWS, Table, rate, share
from evaluation.scoring.scores import ROW, label, outcomes, scores, since

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("public", "perturbed", "planted")
# Of each kind of programs.
COLUMNS = (
    "detected", "detected_n", "detected_low", "detected_high",
    "paired", "paired_n", "paired_low", "paired_high", "false_fixed", "false_fixed_n",
)  # fmt: skip
FILE = "side-by-side.csv"


def side_by_side(read: Records) -> "pd.DataFrame":
    """One row a detector, kind of references and rule; the columns of each kind of programs begin with its name.

    Of public programs only those count that the detector met perturbed, too, where it met any: rates are compared on
    programs that it met both ways. The same program by several seeds is several programs.
    """
    import pandas as pd

    parts = {
        kind: outcomes(records, read.rules)
        for kind, records in _by_kind(read.checks).items()
        if records
    }
    tables = [
        scores(table)[[*ROW, *COLUMNS]].set_index(ROW).add_prefix(f"{kind}_")
        for kind, table in parts.items()
    ]
    marks = (
        pd.concat(parts.values())
        .groupby(ROW)
        .agg(oracle=("oracle", "any"), rule_since=("rule_since", since))
    )
    joined = pd.concat(tables, axis=1).sort_index()
    counts = [
        f"{kind}_{name}"
        for kind in KINDS
        for name in COLUMNS
        if not name.endswith(("_low", "_high"))
    ]
    return marks.join(
        joined.astype({name: "Int64" for name in counts if name in joined})
    ).reset_index()


def to_read(table: "pd.DataFrame", scored: "pd.DataFrame | None" = None) -> Table:
    """A line for each row: of each kind of programs what is found, with its interval, and paired.

    Where the scores of public programs have many rows, those are left out in whose place another rule is chosen.
    """
    if scored is not None and len(scored) > MOST_ROWS:
        table = without(table, rejected(scored))
    heading = ["DETECTOR", *(text for kind in KINDS for text in (kind.upper(), "PAIRED"))]
    lines = [
        [label(row), *(text for kind in KINDS for text in _cells(row, kind))]
        for _, row in table.iterrows()
    ]
    return Table(
        "Cases found in programs as published, rewritten, and with planted faults",
        [heading, *lines],
    )


def without(table: "pd.DataFrame", rows: Set[tuple[str, ...]]) -> "pd.DataFrame":
    """The table without these rows: detector, references and rule."""
    return table[[key not in rows for key in table[ROW].itertuples(index=False, name=None)]]


def _cells(row: "pd.Series[Any]", kind: str) -> tuple[str, str]:
    import pandas as pd

    if pd.isna(row.get(f"{kind}_detected_n")):
        return "-", "-"
    return rate(f"{kind}_detected")(row), share(f"{kind}_paired", f"{kind}_detected_n")(row)


def _by_kind(checks: Sequence[CheckRecord]) -> dict[str, list[CheckRecord]]:
    parts: dict[str, list[CheckRecord]] = {kind: [] for kind in KINDS}
    for each in checks:
        seed = each.perturb if each.plant is None else each.plant
        parts[each.rewriting].append(
            each if seed is None else replace(each, case=f"{each.case}@{seed}")
        )
    met = {_program(each) for each in checks if each.perturb is not None}
    who = {(each.detector, each.references) for each in parts["perturbed"]}
    public = [
        each
        for each in parts["public"]
        if _program(each) in met or (each.detector, each.references) not in who
    ]
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
