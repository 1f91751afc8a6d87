"""The subcommand evaluate: lets detectors look at programs, and scores their answers."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from runner.errors import UsageError
from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.exits import FAILURE, INVALID, SUCCESS, ExitStatus
from trainbugs.cli.parser import (
    Help,
    Subparsers,
    add_command,
    add_figures,
    add_json,
    add_quiet,
    add_session_options,
)
from trainbugs.cli.scoring import (
    ScoreFolder,
    report_promoted_scores,
    report_rewritten,
    report_scores,
    report_seeds,
)
from trainbugs.cli.terminal import side_stream
from trainbugs.cli.text import unreadable
from trainbugs.cli.types import count, positive, seed

if TYPE_CHECKING:
    from evaluation.model import Reference
    from evaluation.records import CheckRecord
    from evaluation.running.campaign import CampaignResult
    from evaluation.running.options import CampaignOptions
    from runner.bugs.catalog import Catalog
    from runner.session.session import Session

HELP = Help(
    "show detectors the bugs, their fixed twins and correct controls, and score what they say",
    [
        "evaluate --detector api-sequence gradient-cycle optimizer-progress",
        "evaluate --detector my/own/one --bugs PyTorch-115607 --controls same",
        "evaluate --detector my/own/one --bugs Bolts-654 --perturb 1",
    ],
)
SESSION_OPTIONS = (
    "label", "device", "python", "data", "jobs", "gpus", "per_gpu", "executor",
    "trust_environments", "results"
)  # fmt: skip
# Statuses of a check by which `evaluate` has failed.
FAILED = ("tool_error", "timeout", "peeked", "disturbed")


@dataclass(frozen=True)
class EvaluateOptions:
    """The options of `trainbugs evaluate`."""

    detector: tuple[str, ...]
    bugs: tuple[str, ...]
    controls: Literal["all", "same", "none"]
    upstream: bool
    references: "tuple[Reference, ...]"
    overhead: str
    repeats: int
    perturb: int | None
    plant: int | None
    check_timeout_s: float | None
    ask_again: bool
    all_seeds: bool
    session: Options
    update_expected: bool
    out: Path
    figures: str
    json: bool
    quiet: bool

    @property
    def format(self) -> str:
        """The format of the scores on standard output."""
        return "json" if self.json else "table"


def add_arguments(subparsers: Subparsers) -> None:
    """Add evaluate."""
    parser = add_command(
        subparsers, "evaluate", evaluate_detectors, EvaluateOptions, HELP, unfinished=INVALID
    )
    parser.add_argument(
        "--detector", nargs="+", action="extend", required=True, metavar="NAME|DIR",
        help="a name that `trainbugs detectors` shows, or a directory; several are scored together",
    )  # fmt: skip
    parser.add_argument(
        "--bugs",
        nargs="+",
        default=(),
        metavar="BUG[/CASE]",
        help="only these bugs; default: all whose data you have",
    )
    parser.add_argument(
        "--controls", choices=("all", "same", "none"), default="all",
        help=(
            "correct programs to show: all, same (basic ones, in the environments of the bugs), "
            "or none; default: all"
        ),
    )  # fmt: skip
    parser.add_argument(
        "--upstream", action="store_true",
        help=(
            "also show the buggy scripts in the first release with the real fix, if there is one"
        ),
    )  # fmt: skip
    parser.add_argument(
        "--references", nargs="+", choices=("same", "cross"), default=("same", "cross"),
        help=(
            "clean runs to learn from: same (of the fixed twin), cross (of other programs); "
            "default: both, scored apart"
        ),
    )  # fmt: skip
    parser.add_argument(
        "--overhead",
        default="SO-60335387/digits",
        metavar="BUG/CASE|none",
        help="time detectors on the fixed program of this case; default: SO-60335387/digits",
    )
    parser.add_argument(
        "--repeats",
        type=count,
        default=3,
        metavar="K",
        help="bare runs, and as many watched ones, for the overhead; default: 3",
    )
    parser.add_argument(
        "--perturb", type=seed, metavar="SEED",
        help=(
            "rewrite the programs (names, order, layout, innocent statements), and show those that "
            "still do the same"
        ),
    )  # fmt: skip
    parser.add_argument(
        "--plant", type=seed, metavar="SEED",
        help="plant faults in controls and fixed programs, and show those that do harm",
    )  # fmt: skip
    # Not the options of a session with these names, which are for the runs of programs.
    parser.add_argument(
        "--timeout", dest="check_timeout_s", type=positive, metavar="SECONDS",
        help="limit for each check; default: the detector's",
    )  # fmt: skip
    parser.add_argument(
        "--force",
        dest="ask_again",
        action="store_true",
        help="ask again what has been answered before",
    )
    parser.add_argument(
        "--all-seeds", action="store_true",
        help=(
            "all seeds of each case, not only the first; of cases that need data only the first, "
            "since they take minutes"
        ),
    )  # fmt: skip
    seeds = "numbers with commas between them; default: the first one of each case"
    add_session_options(parser, *SESSION_OPTIONS, seeds=seeds)
    parser.add_argument(
        "--update-expected", action="store_true", help="keep the records as the expected ones"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("scores"),
        metavar="DIR",
        help="folder for scores and figures; default: ./scores",
    )
    add_figures(parser)
    add_json(parser)
    add_quiet(parser)


def evaluate_detectors(options: EvaluateOptions) -> ExitStatus:
    """Evaluate detectors; FAILURE where a check failed,
    INVALID where a program or a record is unfit.
    """
    # Fails before any detector is asked where pandas or matplotlib is not installed.
    import pandas as pandas

    from evaluation.running import campaign
    from evaluation.running.promote import homes
    from plots.detectors import draw as draw
    from runner.files.atomic import make_folder
    from runner.progress.lines import on_stderr
    from runner.session.session import Session, connected

    catalog = api.load()
    plan = _campaign(options, catalog.root)
    folders = homes(plan, catalog.root) if options.update_expected else {}
    if folders:
        _refuse_promotion(plan, folders, options, catalog.root)
    make_folder(options.out)
    with connected(options.session) as cluster:
        session = Session(catalog, options.session, on_stderr(options.quiet), cluster)
        result = campaign.run(plan, session)
    if not result.checks:
        why = "lines above say why" if result.broken else "name other bugs or --references"
        raise UsageError(f"no detector was asked about any program; {why}")
    problems = _report(plan, result, session, options)
    for line in _uncounted(plan, result):
        session.progress.note(line)
    _promote(plan, result, folders, options, catalog)
    for program in result.broken:
        session.progress.note(f"{program.run.name}: does not run by itself, no detector was asked")
    if result.broken or problems:
        return INVALID
    return _check_status(result.checks)


def _uncounted(plan: "CampaignOptions", result: "CampaignResult") -> Iterator[str]:
    """A line for each detector that raised alarms of which no rule counts one."""
    for detector in plan.detectors:
        checks = [check for check in result.checks if check.detector == detector.name]
        alarms = [alarm for check in checks for alarm in check.alarms]
        if alarms and not any(rule.counted(alarms) for rule in detector.alarm_rules.values()):
            codes = ", ".join(sorted({alarm.code for alarm in alarms}))
            yield (
                f"{detector.name}: none of its alarms counts, because no rule in detector.json is "
                f"about them; their codes are {codes}"
            )


def _check_status(checks: "Sequence[CheckRecord]") -> ExitStatus:
    return FAILURE if any(check.status in FAILED for check in checks) else SUCCESS


def _campaign(options: EvaluateOptions, root: Path) -> "CampaignOptions":
    from evaluation.catalog import detectors
    from evaluation.running.options import CampaignOptions

    return CampaignOptions(
        detectors=[detectors.load(root, name) for name in options.detector],
        bugs=options.bugs,
        controls=options.controls,
        references=options.references,
        overhead_on=None if options.overhead == "none" else options.overhead,
        repeats=options.repeats,
        force=options.ask_again,
        timeout_s=options.check_timeout_s,
        upstream=options.upstream,
        all_seeds=options.all_seeds,
        perturb=options.perturb,
        plant=options.plant,
        committed=options.update_expected,
    )


def _refuse_promotion(
    plan: "CampaignOptions", folders: Mapping[str, Path], options: EvaluateOptions, root: Path
) -> None:
    """Raise UsageError where the records could not become committed ones."""
    from evaluation.running.promote import refuse_part, refuse_uncommitted
    from runner.session.promote import refuse_installed

    refuse_installed("--update-expected", folders.values())
    refuse_part(plan, options.session, root)
    refuse_uncommitted(plan)


def _report(
    plan: "CampaignOptions", result: "CampaignResult", session: "Session", options: EvaluateOptions
) -> Sequence[str]:
    """Write and print the scores of the answers; returns a line for each file that cannot be
    read.
    """
    from evaluation.records import Records

    rules = {detector.name: detector.alarm_rules for detector in plan.detectors}
    records = Records(result.checks, result.overheads, rules)
    problems: Sequence[str] = ()
    if plan.rewriting:
        report_scores(
            records,
            ScoreFolder(options.out / plan.rewriting),
            options.format,
            session.catalog,
            options.figures,
        )
        problems = _report_rewritten(sorted(rules), session, options)
    else:
        folder = ScoreFolder(options.out)
        scores = report_scores(records, folder, options.format, session.catalog, options.figures)
        report_seeds(records, scores, folder, options.format)
    print(f"records: {result.folder.resolve()}", file=side_stream(options.json))
    return problems


def _report_rewritten(
    detectors: Sequence[str], session: "Session", options: EvaluateOptions
) -> Sequence[str]:
    """Write and print scores of public and rewritten programs;
    returns a line for each file that cannot be read.
    """
    from evaluation.reading.load import load_results
    from evaluation.reading.sources import RecordSelection, read_rewritten

    root = session.store.root
    published = load_results(root / "detectors", detectors).problems
    print(unreadable(published), end="", file=sys.stderr)
    records = read_rewritten(session.catalog, RecordSelection(detectors, "results", root))
    rewritten = report_rewritten(records, None, ScoreFolder(options.out), options.format)
    return [*published, *rewritten]


def _promote(
    plan: "CampaignOptions",
    result: "CampaignResult",
    folders: Mapping[str, Path],
    options: EvaluateOptions,
    catalog: "Catalog",
) -> None:
    """Commit the records to these folders, by detector, and write what is made of them anew."""
    from evaluation.reading.seeds import committed_with_seeds
    from evaluation.running.promote import promote_checks, renew_side_by_side
    from evaluation.store.committed import CommittedChecks

    def tabulate(folder: Path, copy: Path) -> None:
        scores, target = None, ScoreFolder(copy, final=folder)
        if not plan.rewriting:
            # Of a submission the tables are enough.
            figures = "png" if folder.name == "expected" else "none"
            records = CommittedChecks(copy).read()
            scores = report_promoted_scores(records, target, options.format, catalog, figures)
            report_seeds(committed_with_seeds([copy]), scores, target, options.format)
        report_rewritten(renew_side_by_side(copy), scores, target, options.format)

    promote_checks(plan, result, folders, tabulate)
