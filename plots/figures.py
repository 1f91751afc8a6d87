"""The figures of runs and their files; a figure that cannot be drawn does not stop the others."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from plots.curves import compare as compare_curves
from plots.curves import draw_case
from plots.heatmap import draw_heatmaps, heatmaps
from plots.style import Only, styled
from plots.summary import draw_summary
from plots.versions import draw_versions
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.program import VARIANTS
from runner.environments.spec import releases
from runner.errors import MeasureError
from runner.files.untrusted import brief
from runner.results.expected import expected_runs, version_records
from runner.results.record import RunRecord
from runner.verdicts.affected import findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class CaseRuns:
    """The runs behind one verdict, failed ones included."""

    bug: Bug
    case: Case
    records: tuple[RunRecord, ...]


@dataclass(frozen=True)
class DrawnFigures:
    """Files written, and a line for each case whose curves cannot be drawn."""

    paths: tuple[Path, ...]
    problems: tuple[str, ...]


def draw(runs: Sequence[CaseRuns], out: Path, kind: str) -> DrawnFigures:
    """Draw the curves of every case into out/<bug> and a summary into `out`; `kind` is png,
    pdf or svg.
    """
    variant_runs = [_variant_pair(item) for item in runs]
    drawable = [item for item in variant_runs if item.records]
    drawn = _draw_cases([(item, out / item.bug.id) for item in drawable], kind, _everything)
    if not drawable:
        return drawn
    summary = draw_summary([(item.case, item.records) for item in drawable], out, kind)
    return replace(drawn, paths=(*drawn.paths, summary))


def draw_expected(bug: Bug, folder: Path) -> DrawnFigures:
    """Draw the figures that are committed with a bug,
    from the records in a folder called `expected`, and into it.

    Raises ResultsError where a record cannot be read.
    """
    by_case = expected_runs(structs.replace(bug, directory=folder.parent))
    runs = [
        _variant_pair(CaseRuns(bug, bug.cases[case], tuple(records)))
        for case, records in by_case.items()
    ]
    places = [(item, folder) for item in runs if item.records]
    return _draw_cases(places, "png", _committed(bug))


def _draw_cases(places: Sequence[tuple[CaseRuns, Path]], kind: str, only: Only) -> DrawnFigures:
    """Draw the curves of cases, each into its folder."""
    paths: list[Path] = []
    problems = []
    for item, folder in places:
        draw_figures = draw_heatmaps if item.case.plot.heatmap else draw_case
        try:
            with naming(item.case):
                paths += draw_figures(item.case, item.records, folder, kind, only)
        except MeasureError as error:
            problems.append(str(error))
    return DrawnFigures(tuple(paths), tuple(problems))


def _variant_pair(item: CaseRuns) -> CaseRuns:
    """The runs without those of a third variant, which has no figures."""
    records = tuple(record for record in item.records if record.variant in VARIANTS)
    return replace(item, records=records)


def compare(item: CaseRuns) -> "Figure":
    """The figure compare_<case>, buggy over fixed, which is not written.

    Raises MeasureError where a variant has no finished run, or its records cannot be drawn.
    """
    finished = [record for record in item.records if record.ok]
    variants = {record.variant for record in finished}
    missing = [variant for variant in VARIANTS if variant not in variants]
    with naming(item.case), styled():
        if missing:
            raise MeasureError(f"there is no finished run of the {missing[0]} variant")
        if item.case.plot.heatmap:
            return heatmaps(item.case, finished)
        return compare_curves(item.case, finished)


@contextmanager
def naming(case: Case) -> Iterator[None]:
    """A context in which whatever cannot be drawn raises MeasureError with a line that names the
    case.
    """
    try:
        yield
    except MeasureError as error:
        raise MeasureError(f"{case.id}: no curves: {error}") from error
    except (ValueError, ArithmeticError) as error:
        # For example text instead of a number, a number too large for an axis, a label that is not
        # a valid formula.
        raise MeasureError(f"{case.id}: no curves: cannot be drawn: {brief(str(error))}") from error


def _everything(name: str) -> bool:
    return True


def _committed(bug: Bug) -> Only:
    """Whether a figure of that name is committed: buggy over fixed, and what the README shows."""
    readme = bug.directory / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    return lambda name: name.startswith("compare_") or f"expected/{name}.png" in text


def draw_maps(bugs: Sequence[Bug], out: Path, kind: str, root: Path) -> list[Path]:
    """Draw out/<bug>/versions.<kind> of every bug that has an expected map of versions;
    returns the files written.

    Releases that have an environment under `root` and are not in the map are empty cells.
    Raises ResultsError where a record cannot be read.
    """
    maps = [(bug, findings(bug, version_records(bug))) for bug in bugs]
    return [
        draw_versions(bug, rows, out / bug.id, kind, releases(root, bug.package))
        for bug, rows in maps
        if rows
    ]
