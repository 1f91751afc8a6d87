"""Which figures belong to which runs, and where do they go? One that cannot be drawn stops no other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plots.curves import draw_case
from plots.summary import draw_summary
from runner.errors import MeasureError
from runner.model import Bug, Case
from runner.records import RunRecord


@dataclass(frozen=True)
class Runs:
    """The runs behind one verdict, failed ones included."""

    bug: Bug
    case: Case
    records: tuple[RunRecord, ...]


@dataclass(frozen=True)
class Drawn:
    """Files written, and a line for each case whose curves cannot be drawn."""

    paths: tuple[Path, ...]
    problems: tuple[str, ...]


def draw(runs: Sequence[Runs], out: Path | None, kind: str) -> Drawn:
    """Draw the curves of every case into out/<bug> and a summary into `out`; `kind` is png, pdf or svg.

    Without `out` the curves go to each bug's own expected outputs, and there is no summary.
    """
    paths: list[Path] = []
    problems = []
    for item in runs:
        directory = out / item.bug.id if out else item.bug.expected
        try:
            paths += draw_case(item.bug, item.case, item.records, directory, kind)
        except MeasureError as error:
            problems.append(f"{item.case.id}: no curves: {error}")
    if out and runs:
        paths.append(draw_summary([(item.case, item.records) for item in runs], out, kind))
    return Drawn(tuple(paths), tuple(problems))
