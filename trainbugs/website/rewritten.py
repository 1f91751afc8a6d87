"""The table of the leaderboard that sets public, perturbed and planted programs side by side."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.records import OTHER_CODE
from evaluation.scoring.outcomes import label
from evaluation.scoring.rewritten import KINDS, side_by_side, without
from trainbugs.website.evaluations import Interval, interval

if TYPE_CHECKING:
    from evaluation.records import Records

MEASURES = {"detected": "Detected", "paired": "Paired"}


@dataclass(frozen=True)
class RewrittenRow:
    """A detector, kind of references and rule: its rates by the names of the columns."""

    detector: str
    label: str
    rates: Mapping[str, Interval]

    @property
    def negative(self) -> bool:
        """Whether the detector is a negative control."""
        return self.detector in NEGATIVE_CONTROLS


@dataclass(frozen=True)
class SideBySide:
    """The columns with their headings, the rows, and the detectors of which records of another code
    are left out. `is_earlier`: the records are of an earlier kit than those of the scores.
    """

    columns: Mapping[str, str]
    rows: tuple[RewrittenRow, ...]
    other_code: tuple[str, ...]
    is_earlier: bool = False


def side_by_side_table(
    records: "Records | None", rejected: Set[tuple[str, ...]] = frozenset()
) -> SideBySide:
    """The table of records, in the order of what is paired of public programs;
    empty where there are none.

    Rows are left out whose detector, references and rule are among the `rejected`.
    """
    if records is None:
        return SideBySide({}, (), ())
    other_code = records.excluded_detectors(OTHER_CODE)
    if not records.checks:
        return SideBySide({}, (), other_code)
    columns = _columns({check.rewriting for check in records.checks})
    table = without(side_by_side(records), rejected)
    rows = [_row(row, columns) for row in table.to_dict("records")]
    return SideBySide(columns, tuple(sorted(rows, key=_order)), other_code)


def _columns(rewritings: Set[str]) -> dict[str, str]:
    """The headings of the rates of each kind of programs, by the names of the columns."""
    kinds = [kind for kind in KINDS if kind in rewritings]
    columns: dict[str, str] = {}
    for measure, heading in MEASURES.items():
        columns |= {f"{kind}_{measure}": f"{heading}, {kind}" for kind in kinds}
    return columns


def _row(row: Mapping[Any, Any], columns: Mapping[str, str]) -> RewrittenRow:
    rates = {name: interval(row, name) for name in columns}
    return RewrittenRow(str(row["detector"]), label(row), rates)


def _order(row: RewrittenRow) -> tuple[float, str]:
    public = row.rates.get("public_paired")
    return -(public.rate or 0.0) if public else 0.0, row.label
