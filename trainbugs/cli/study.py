"""The subcommand study: runs a bug over a grid of parameters, and says how far its harm reaches."""

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.documents import beside, of_study, print_json
from trainbugs.cli.terminal import show_table
from trainbugs.cli.types import Commands, add, add_json, add_options, add_quiet, count, options

if TYPE_CHECKING:
    from runner.bugs.catalog import Catalog
    from runner.progress.lines import Progress
    from runner.studies.definition import Study
    from runner.studies.running import Results

EXAMPLES = [
    "study Bolts-654/classes --points 2     # two points more",
    "study SO-60335387/impact -j 2 --figures",
    "study Bolts-654/classes --from results # runs nothing",
]
OPTIONS = (
    "device", "python", "data", "network", "max_memory_gb", "force", "jobs",
    "gpus", "per_gpu", "executor", "trust_environments", "results",
)  # fmt: skip
TEXTS = {
    "seeds": "comma-separated, e.g. 0,1,2; default: those of the study",
    "timeout_s": "for each run; default: that of the study",
    "environment": "another pinned environment than the study's",
}


def add_commands(to: Commands) -> None:
    """Add study."""
    parser = add(to, "study", study_command, "run a bug over a grid of parameters", EXAMPLES)
    parser.set_defaults(status=2)
    parser.add_argument("study", metavar="BUG[/NAME]", help="which studies; also a bug directory")
    parser.add_argument(
        "--points",
        type=count,
        metavar="N",
        help="run that many more points, then stop; default: all",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("run", "results", "expected"),
        default="run",
        help="results or expected: run nothing, show the results folder or the committed table",
    )
    parser.add_argument(
        "--keep", action="store_true", help="count present runs of the committed table as finished"
    )
    add_options(parser, *OPTIONS, **TEXTS)
    parser.add_argument("--figures", action="store_true", help="draw figures and write the summary")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="of figures; default: ./figures",
    )
    parser.add_argument(
        "--update-expected",
        action="store_true",
        help="keep table, figures and summary with the bug",
    )
    add_json(parser)
    add_quiet(parser)


def study_command(arguments: Namespace) -> int:
    """Run studies, and print the shares of their labels; status 0, or 2 where some run is INVALID."""
    from runner.progress.lines import on_stderr
    from runner.studies.definition import select
    from runner.studies.promote import refuse_unfit

    if arguments.source != "run" and arguments.points:
        raise UsageError(
            f"--points runs something, and --from {arguments.source} nothing; leave out one of them"
        )
    excluded = (
        f"--from {arguments.source}"
        if arguments.source != "run"
        else "--force" * options(arguments).force
    )
    if arguments.keep and excluded:
        raise UsageError(f"--keep is of what need not be run again; leave out {excluded}")
    catalog, progress = api.load(), on_stderr(arguments.quiet)
    studies = select(catalog, arguments.study)
    for study in studies if arguments.update_expected else ():
        refuse_unfit(study)
    every = []
    for study in studies:
        results = _results(catalog, study, arguments, progress)
        every.append(results)
        if not arguments.json:
            _show(results)
        _write(results, arguments)
    if arguments.json:
        print_json([of_study(results) for results in every])
    arguments.status = 2 if any(results.invalid for results in every) else 0
    return int(arguments.status)


def _results(
    catalog: "Catalog", study: "Study", arguments: Namespace, progress: "Progress"
) -> "Results":
    from runner.studies import table
    from runner.studies.running import Results, known, run_study

    if arguments.source == "expected":
        rows = table.read(study)
        if not rows:
            raise UsageError(
                f"{study.id} has no committed table; `trainbugs study {study.id} --update-expected`"
            )
        return Results(study, rows)
    if arguments.source == "results":
        return known(catalog, study, options(arguments), progress)
    return run_study(catalog, study, options(arguments), progress, arguments.points, arguments.keep)


def _show(results: "Results") -> None:
    from trainbugs.cli.text import study_rows

    study = results.study
    print(
        f"{study.id}: {results.points} of {len(study.points)} points, INVALID runs: {results.invalid}"
    )
    for row in [row for row in results.rows if not row.ok][:10]:
        print(f"  INVALID ({row.run['status']}): {row.point.text}, {row.variant} seed {row.seed}")
    if results.cells:
        show_table(study_rows(results))


def _write(results: "Results", arguments: Namespace) -> None:
    to, study = beside(arguments), results.study
    if arguments.update_expected:
        from plots.studies import draw_study
        from runner.studies.promote import promote

        draw = partial(draw_study, results)
        for path in promote(results, draw, with_table=arguments.source != "expected"):
            print(f"written: {path}", file=to)
    if arguments.figures:
        from plots.studies import draw_study
        from runner.files.atomic import write_text
        from runner.studies.summary import summary

        folder = arguments.out / study.bug.id
        for path in draw_study(results, lambda ending: folder / f"{study.case}{ending}"):
            print(f"figure: {path}", file=to)
        write_text(folder / f"{study.case}.md", summary(results))
        print(f"summary: {folder / f'{study.case}.md'}", file=to)
