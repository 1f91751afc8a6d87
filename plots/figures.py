"""The figures of runs and their files; a figure that cannot be drawn does not stop the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plots.curves import draw_case
from plots.heatmap import draw_heatmaps
from plots.style import Only
from plots.summary import draw_summary
from plots.versions import draw_versions
from runner.bugs.model import Bug, Case
from runner.errors import MeasureError
from runner.files.untrusted import brief
from runner.results.expected import version_records
from runner.results.record import RunRecord
from runner.verdicts.affected import findings


@dataclass(frozen=True)
class CaseRuns:
    """The runs behind one verdict, failed ones included."""

    bug: Bug
    case: Case
    records: tuple[RunRecord, ...]


@dataclass(frozen=True)
class Drawn:
    """Files written, and a line for each case whose curves cannot be drawn."""

    paths: tuple[Path, ...]
    problems: tuple[str, ...]


def draw(runs: Sequence[CaseRuns], out: Path | None, kind: str) -> Drawn:
    """Draw the curves of every case into out/<bug> and a summary into `out`; `kind` is png, pdf or svg.

    Without `out`, the figures that are committed with a bug go to its expected outputs, and there is no summary.
    """
    paths: list[Path] = []
    problems = []
    for item in runs:
        directory = out / item.bug.id if out else item.bug.expected
        only = _everything if out else _committed(item.bug)
        draw_one = draw_heatmaps if item.case.plot.heatmap else draw_case
        try:
            paths += draw_one(item.case, item.records, directory, kind, only)
        except MeasureError as error:
            problems.append(f"{item.case.id}: no curves: {error}")
        except (ValueError, ArithmeticError) as error:
            # For example text instead of a number, a number too large for an axis, a label that is not a valid formula.
            problems.append(f"{item.case.id}: no curves: cannot be drawn: {brief(str(error))}")
    if out and runs:
        paths.append(draw_summary([(item.case, item.records) for item in runs], out, kind))
    return Drawn(tuple(paths), tuple(problems))


def _everything(name: str) -> bool:
    return True


def _committed(bug: Bug) -> Only:
    """Whether a figure of that name is committed: buggy over fixed, and what the README shows."""
    readme = bug.directory / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    return lambda name: name.startswith("compare_") or f"expected/{name}.png" in text


def draw_maps(bugs: Sequence[Bug], out: Path, kind: str) -> list[Path]:
    """Draw out/<bug>/versions.<kind> of every bug that has an expected map of versions; returns the files written.

    Raises ResultsError where a record cannot be read.
    """
    maps = [(bug, findings(bug, version_records(bug))) for bug in bugs]
    return [draw_versions(bug, rows, out / bug.id, kind) for bug, rows in maps if rows]
