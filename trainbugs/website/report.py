"""A user's own results as one self-contained page: verdicts, what was observed, curves,
scores of detectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.catalog import rule_settings
from evaluation.reading.sources import RecordSelection, read_records
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.errors import MeasureError, ResultsError, UsageError
from runner.files import untrusted
from runner.results.record import CheckedStatement, RunRecord, VerdictRecord, read_verdict
from runner.results.store import Store
from trainbugs.website import chart, index
from trainbugs.website.evaluations import ALL, RATES, Score, evaluation
from trainbugs.website.links import Links
from trainbugs.website.tables import Indexed, Value, facet, words
from trainbugs.website.tables import index as as_index
from trainbugs.website.templating import Templates, asset

COLUMNS = (
    ("case", "Case"),
    ("verdict", "Verdict"),
    ("runs", "Runs"),
    ("seconds", "Seconds"),
    ("drift", "Drift"),
    ("", "Why"),
)
# What tells that a file was made here, and may be replaced; it stands before all else that differs.
GENERATOR = "trainbugs site --from results"
START_BYTES = 2000


@dataclass(frozen=True)
class JudgedCase:
    """A case of a campaign: its last verdict as it was written, the runs behind it,
    and their curves.
    """

    case: Case
    verdict: VerdictRecord
    records: tuple[RunRecord, ...]
    panels: tuple[chart.PanelChart, ...]
    no_curves: str

    @property
    def seconds(self) -> float:
        """Wall seconds of its runs together."""
        return sum(record.wall_s for record in self.records)

    @property
    def statements(self) -> list[tuple[str, list[CheckedStatement]]]:
        """The checks of each expectation, in their order."""
        grouped: dict[str, list[CheckedStatement]] = {}
        for check in self.verdict.checks:
            grouped.setdefault(check.statement, []).append(check)
        return list(grouped.items())


@dataclass(frozen=True)
class ResultsPage:
    """The page, how many cases and rows of detectors it has,
    and a line for each file that cannot be read.
    """

    html: str
    cases: int
    rows: int
    problems: tuple[str, ...]


def check_replaceable(out: Path) -> None:
    """Raise UsageError for a folder, and for a file that is no older report: it would be lost."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder; expected a file like report.html for --out")
    if not out.exists():
        return
    try:
        start = untrusted.read_start(out, START_BYTES)
    except untrusted.UnsafeError as error:
        raise UsageError(f"{out} {error}; name another file by --out") from error
    if f'content="{GENERATOR}"'.encode() not in start:
        raise UsageError(
            f"{out} exists, and is no report that this command made; name another file by --out"
        )


def report(catalog: Catalog, results: Path) -> ResultsPage:
    """The report of a results folder; raises UsageError where it has neither verdicts nor answers
    of detectors.
    """
    cases, problems = _cases(catalog, Store(results))
    scores, more = _scores(catalog, results)
    if not cases and not scores and not problems and not more:
        raise UsageError(
            f"there are no verdicts in {str(results)!r}; `trainbugs run` makes them, or name it by "
            "--results"
        )
    templates = Templates(
        Links(catalog.root, {}), {"footer": "Made by trainbugs site --from results."}
    )
    rows, score_rows = [_row(judged) for judged in cases], index.score_rows(scores, {})
    verdicts = facet("verdict", "Verdict", rows, ("REPRODUCED", "NOT REPRODUCED", "INVALID"))
    html = templates.render(
        "report.html",
        "report.html",
        "",
        title="Results",
        single=True,
        generator=GENERATOR,
        css=_inline("site.css"),
        js=_inline("site.js"),
        cases=cases,
        rows=as_index(rows),
        facets=[facet("bug", "Bug", rows), verdicts],
        columns=COLUMNS,
        scores=scores,
        score_rows=as_index(score_rows),
        score_facets=[facet("detector", "Detector", score_rows)],
        score_columns=index.SCORE_COLUMNS,
        rates=RATES,
        count=dict(verdicts.values.items()),
    )
    return ResultsPage(html, len(cases), len(scores), (*problems, *more))


def _cases(catalog: Catalog, store: Store) -> tuple[list[JudgedCase], list[str]]:
    """The cases with a verdict, and a line for each file that cannot be read."""
    bugs, problems = catalog.readable()
    cases = []
    for bug in bugs:
        for case in bug.cases.values():
            path = store.verdict_path(bug.id, case.name)
            if not path.is_file():
                continue
            try:
                verdict, records = read_verdict(path), store.judged_runs(bug.id, case.name)
                cases.append(_judged(case, verdict, records))
            except ResultsError as error:
                problems.append(str(error))
    return cases, problems


def _judged(case: Case, verdict: VerdictRecord, records: Sequence[RunRecord]) -> JudgedCase:
    panels: Sequence[chart.PanelChart] = ()
    problem = ""
    try:
        panels = chart.panels(case, records)
    except (MeasureError, ValueError, ArithmeticError) as error:
        problem = "" if case.plot.heatmap else untrusted.brief(str(error))
    return JudgedCase(case, verdict, tuple(records), tuple(panels), problem)


def _row(judged: JudgedCase) -> Indexed:
    case, verdict = judged.case, judged.verdict
    name = verdict.verdict or "no verdict"
    order: dict[str, Value] = {
        "case": case.id,
        "verdict": name,
        "runs": float(len(judged.records)),
        "seconds": judged.seconds,
        "drift": None if isinstance(verdict.drift, str) else verdict.drift,
    }
    return Indexed(
        case.id,
        words(case.id, case.title, name, verdict.reason),
        {"bug": [case.bug], "verdict": [name]},
        order,
    )


def _scores(catalog: Catalog, results: Path) -> tuple[list[Score], list[str]]:
    if not any(results.glob("detectors/*")):
        return [], []
    try:
        records = read_records(catalog, RecordSelection((), "results", results))
    except (UsageError, ResultsError) as error:
        return [], [str(error)]
    scores = evaluation(records, (), settings=rule_settings.load(catalog.root)).scores
    return [score for score in scores if score.group == ALL], list(records.problems)


def _inline(name: str) -> Any:
    """A style or a script that stands in the page itself: it is ours, and is not escaped."""
    from markupsafe import Markup

    return Markup(asset(name))
