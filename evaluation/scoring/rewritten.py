"""Scores of the same detectors on public, perturbed and planted programs, side by side."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evaluation.records import CheckRecord
from evaluation.scoring.report import interval
from evaluation.scoring.scores import ROW, label, outcomes, scores
from evaluation.store import Evaluated

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("public", "perturbed", "planted")
# Of each kind of programs.
COLUMNS = ("detected", "detected_n", "detected_low", "detected_high", "paired", "false_fixed", "false_fixed_n")


def side_by_side(read: Evaluated) -> "pd.DataFrame":
    """One row a detector, kind of references and rule; the columns of each kind of programs begin with its name.

    Of public programs only those count that the detector met perturbed, too, where it met any: rates are compared on
    programs that both met. The same program by several seeds is several programs.
    """
    import pandas as pd

    parts = {kind: scores(outcomes(records, read.rules)) for kind, records in _by_kind(read.checks).items() if records}
    tables = [table[[*ROW, *COLUMNS]].set_index(ROW).add_prefix(f"{kind}_") for kind, table in parts.items()]
    joined = pd.concat(tables, axis=1).sort_index() if tables else pd.DataFrame(columns=ROW).set_index(ROW)
    counts = [f"{kind}_{name}" for kind in KINDS for name in COLUMNS if not name.endswith(("_low", "_high"))]
    return joined.astype({name: "Int64" for name in counts if name in joined}).reset_index()


def rows(table: "pd.DataFrame") -> list[list[str]]:
    """The heading, and a line for each row: of each kind of programs what is found, its interval, and paired."""
    heading = ["DETECTOR", *(text for kind in KINDS for text in (kind.upper(), "95 %", "PAIRED"))]
    return [
        heading,
        *([label(row), *(text for kind in KINDS for text in _cells(row, kind))] for _, row in table.iterrows()),
    ]


def _cells(row: "pd.Series[Any]", kind: str) -> Sequence[str]:
    import pandas as pd

    many = row.get(f"{kind}_detected_n")
    if many is None or pd.isna(many):
        return ("-", "-", "-")
    low, high = row[f"{kind}_detected_low"], row[f"{kind}_detected_high"]
    return (f"{row[f'{kind}_detected']}/{many}", interval(low, high), f"{row[f'{kind}_paired']}/{many}")


def _by_kind(checks: Iterable[CheckRecord]) -> dict[str, list[CheckRecord]]:
    checks = list(checks)
    perturbed = [each for each in checks if each.perturb is not None]
    met = {_program(each) for each in perturbed}
    who = {(each.detector, each.references) for each in perturbed}
    public = [each for each in checks if each.perturb is None and each.plant is None]
    return {
        "public": [each for each in public if _program(each) in met or (each.detector, each.references) not in who],
        "perturbed": [replace(each, case=f"{each.case}@{each.perturb}") for each in perturbed],
        "planted": [replace(each, case=f"{each.case}@{each.plant}") for each in checks if each.plant is not None],
    }


def _program(record: CheckRecord) -> tuple[str, ...]:
    return (record.detector, record.references, record.kind, record.bug, record.case, str(record.seed))
