"""The table of the leaderboard that sets public, perturbed and planted programs side by side."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.records import OTHER_CODE
from evaluation.scoring.rewritten import KINDS, side_by_side, without
from evaluation.scoring.scores import label
from trainbugs.website.evaluations import Interval, interval

if TYPE_CHECKING:
    from evaluation.records import Records

MEASURES = {"detected": "Detected", "paired": "Paired"}


@dataclass(frozen=True)
class Row:
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
    """The columns with their headings, the rows, and the detectors of which records of another code are left out."""

    columns: Mapping[str, str]
    rows: tuple[Row, ...]
    other_code: tuple[str, ...]


def of_records(read: "Records | None", rejected: Set[tuple[str, ...]] = frozenset()) -> SideBySide:
    """The table of some records, in the order of what is paired of public programs; empty where there are none.

    Rows are left out whose detector, references and rule are among the `rejected`.
    """
    if read is None or not read.checks:
        return SideBySide({}, (), read.excluded_detectors(OTHER_CODE) if read else ())
    met = {check.rewriting for check in read.checks}
    columns = {
        f"{kind}_{measure}": f"{heading}, {kind}"
        for measure, heading in MEASURES.items()
        for kind in KINDS
        if kind in met
    }
    rows = [
        Row(str(row["detector"]), label(row), {name: interval(row, name) for name in columns})
        for row in without(side_by_side(read), rejected).to_dict("records")
    ]
    rows.sort(
        key=lambda row: (
            -(row.rates["public_paired"].rate or 0.0) if "public" in met else 0.0,
            row.label,
        )
    )
    return SideBySide(columns, tuple(rows), read.excluded_detectors(OTHER_CODE))
