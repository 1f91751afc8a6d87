"""The subcommand study: runs a bug over a grid of parameters, and says how far its harm reaches."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.documents import print_json, study_document
from trainbugs.cli.exits import INVALID, ExitStatus, invalid_if
from trainbugs.cli.parser import (
    Help,
    Subparsers,
    add_command,
    add_json,
    add_quiet,
    add_session_options,
)
from trainbugs.cli.terminal import show_table, side_stream
from trainbugs.cli.types import count

if TYPE_CHECKING:
    from runner.bugs.catalog import Catalog
    from runner.progress.lines import Progress
    from runner.studies.definition import Study
    from runner.studies.running import Results

HELP = Help(
    "run a bug over a grid of parameters",
    [
        "study Bolts-654/classes --points 2     # two points more",
        "study SO-60335387/impact -j 2 --figures",
        "study Bolts-654/classes --from results # runs nothing",
    ],
)
SESSION_OPTIONS = (
    "device", "python", "data", "network", "max_memory_gb", "force", "jobs",
    "gpus", "per_gpu", "executor", "trust_environments", "results",
)  # fmt: skip
TEXTS = {
    "seeds": "numbers with commas between them, like 0,1,2; default: the study's",
    "timeout_s": "limit for each run; default: the study's",
    "environment": "another pinned environment than the study's",
}
# At most this many INVALID runs are named one by one.
MAX_NAMED = 10


@dataclass(frozen=True)
class StudyOptions:
    """The options of `trainbugs study`."""

    study: str
    points: int | None
    source: str
    keep: bool
    session: Options
    figures: bool
    out: Path
    update_expected: bool
    json: bool
    quiet: bool

    def check(self) -> None:
        """Raise UsageError for options that exclude each other."""
        if self.source != "run" and self.points:
            raise UsageError(
                f"--points runs something, and --from {self.source} nothing; leave out one of them"
            )
        if not self.keep:
            return
        excluded = "--force" if self.session.force else ""
        if self.source != "run":
            excluded = f"--from {self.source}"
        if excluded:
            raise UsageError(f"--keep is of what need not be run again; leave out {excluded}")


def add_arguments(subparsers: Subparsers) -> None:
    """Add study."""
    parser = add_command(subparsers, "study", run_studies, StudyOptions, HELP, unfinished=INVALID)
    parser.add_argument("study", metavar="BUG[/NAME]", help="which studies; also a bug directory")
    parser.add_argument(
        "--points",
        type=count,
        metavar="N",
        help="run N more points, then stop; default: all",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("run", "results", "expected"),
        default="run",
        help="results, expected: run nothing, and show your results or the expected table",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="do not repeat runs of the expected table whose files are unchanged",
    )
    add_session_options(parser, *SESSION_OPTIONS, **TEXTS)
    parser.add_argument("--figures", action="store_true", help="draw figures and write the summary")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for figures; default: ./figures",
    )
    parser.add_argument(
        "--update-expected",
        action="store_true",
        help="keep table, figures and summary with the bug",
    )
    add_json(parser)
    add_quiet(parser)


def run_studies(options: StudyOptions) -> ExitStatus:
    """Run studies, and print the shares of their labels; SUCCESS,
    or INVALID where some run is INVALID.
    """
    from runner.progress.lines import on_stderr
    from runner.studies.definition import select
    from runner.studies.promote import refuse_unfit

    options.check()
    catalog, progress = api.load(), on_stderr(options.quiet)
    studies = select(catalog, options.study)
    if options.update_expected:
        for study in studies:
            refuse_unfit(study)
    results_of_studies = []
    for study in studies:
        results = _read_or_run(study, catalog, options, progress)
        results_of_studies.append(results)
        if not options.json:
            _print(results)
        _promote(results, options)
        _draw(results, options)
    if options.json:
        print_json([study_document(results) for results in results_of_studies])
    return invalid_if(any(results.invalid for results in results_of_studies))


def _read_or_run(
    study: "Study", catalog: "Catalog", options: StudyOptions, progress: "Progress"
) -> "Results":
    """The results of a study from the source that the options name."""
    from runner.studies.running import collect_results, run_study

    if options.source == "expected":
        return _read_expected(study)
    if options.source == "results":
        return collect_results(catalog, study, options.session, progress)
    return run_study(catalog, study, options.session, progress, options.points, options.keep)


def _read_expected(study: "Study") -> "Results":
    """The committed results of a study; raises UsageError where there are none."""
    from runner.studies import table
    from runner.studies.running import Results

    rows = table.read(study)
    if not rows:
        raise UsageError(
            f"{study.id} has no committed table; `trainbugs study {study.id} --update-expected`"
        )
    return Results(study, rows)


def _print(results: "Results") -> None:
    from trainbugs.cli.tables import study_table

    study = results.study
    points = f"{results.points} of {len(study.points)} points"
    print(f"{study.id}: {points}, INVALID runs: {results.invalid}")
    invalid = [row for row in results.rows if not row.ok]
    for row in invalid[:MAX_NAMED]:
        print(f"  INVALID ({row.run['status']}): {row.point.text}, {row.variant} seed {row.seed}")
    if results.cells:
        show_table(study_table(results))


def _promote(results: "Results", options: StudyOptions) -> None:
    """Keep table, figures and summary with the bug if the options say so,
    and print where they are.
    """
    if not options.update_expected:
        return
    from plots.studies import draw_study
    from runner.studies.promote import promote

    draw = partial(draw_study, results)
    for path in promote(results, draw, with_table=options.source != "expected"):
        print(f"written: {path}", file=side_stream(options.json))


def _draw(results: "Results", options: StudyOptions) -> None:
    """Draw figures and write the summary if the options say so, and print where they are."""
    if not options.figures:
        return
    from plots.studies import draw_study
    from runner.files.atomic import write_text
    from runner.studies.summary import summary

    stream, study = side_stream(options.json), results.study
    folder = options.out / study.bug.id
    for path in draw_study(results, lambda ending: folder / f"{study.case}{ending}"):
        print(f"figure: {path}", file=stream)
    path = folder / f"{study.case}.md"
    write_text(path, summary(results))
    print(f"summary: {path}", file=stream)
