"""Subcommands about detectors: detectors, evaluate, scores."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.documents import beside, of_detector, print_json
from trainbugs.cli.scored import Out, show_rewritten, show_scores, show_seeds
from trainbugs.cli.terminal import show_table
from trainbugs.cli.text import unreadable
from trainbugs.cli.types import (
    Commands,
    Parser,
    add,
    add_json,
    add_options,
    add_quiet,
    count,
    options,
    positive,
    seed,
)

# Statuses of a check by which `evaluate` has failed.
FAILED = ("tool_error", "timeout", "peeked", "disturbed")

if TYPE_CHECKING:
    from evaluation.reading.sources import ScoreSource
    from evaluation.records import CheckRecord
    from evaluation.running.campaign import Campaign, Result
    from runner.session.session import Session


def add_commands(to: Commands) -> None:
    """Add detectors, evaluate and scores."""
    examples = ["detectors", "detectors --json"]
    add_json(
        add(
            to, "detectors", detectors_command, "show the detectors that can be evaluated", examples
        )
    )
    _add_evaluate(to)
    _add_scores(to)


def _add_evaluate(to: Commands) -> None:
    text = "let detectors look at bugs, their fixed twins and clean controls, and score them"
    examples = [
        "evaluate --detector api-sequence gradient-cycle optimizer-progress",
        "evaluate --detector my/own/one --bugs PyTorch-115607 --controls same",
        "evaluate --detector my/own/one --bugs Bolts-654 --perturb 1",
    ]
    parser = add(to, "evaluate", evaluate_command, text, examples)
    parser.set_defaults(status=2)
    parser.add_argument(
        "--detector", nargs="+", action="extend", required=True, metavar="NAME|DIR",
        help="of `trainbugs detectors`, or a directory; several are scored side by side",
    )  # fmt: skip
    parser.add_argument(
        "--bugs",
        nargs="+",
        default=(),
        metavar="BUG[/CASE]",
        help="default: all whose data is there",
    )
    parser.add_argument(
        "--controls", choices=("all", "same", "none"), default="all",
        help="clean programs: all, the basic ones in the environments of the bugs, or none; default: all",
    )  # fmt: skip
    parser.add_argument(
        "--upstream", action="store_true",
        help="show them also the buggy scripts in the first releases with the real fix, where there are some",
    )  # fmt: skip
    parser.add_argument(
        "--references", nargs="+", choices=("same", "cross"), default=("same", "cross"),
        help="clean runs for detectors that learn: of the fixed twin, of other programs; default: both, scored apart",
    )  # fmt: skip
    parser.add_argument(
        "--overhead",
        default="SO-60335387/digits",
        metavar="BUG/CASE|none",
        help="whose fixed program is timed",
    )
    parser.add_argument(
        "--repeats",
        type=count,
        default=3,
        metavar="K",
        help="bare and watched runs for the overhead; default: 3",
    )
    parser.add_argument(
        "--perturb", type=seed, metavar="SEED",
        help="programs rewritten: other names, order and layout, innocent statements; shown if they do the same",
    )  # fmt: skip
    parser.add_argument(
        "--plant", type=seed, metavar="SEED",
        help="faults put into controls and fixed programs; shown if they do harm",
    )  # fmt: skip
    # Not the options of a session with these names, which are for the runs of programs.
    parser.add_argument(
        "--timeout", dest="check_timeout_s", type=positive, metavar="SECONDS",
        help="for each check; default: the detector's",
    )  # fmt: skip
    parser.add_argument(
        "--force",
        dest="ask_again",
        action="store_true",
        help="ask again what has been answered before",
    )
    parser.add_argument(
        "--all-seeds", action="store_true",
        help="each case with all of its seeds, not only the first; one that needs data, and minutes, with the first",
    )  # fmt: skip
    seeds = "comma-separated; default: the first one of each case"
    names = (
        "label", "device", "python", "data", "jobs", "gpus", "per_gpu", "executor", "trust_environments", "results"
    )  # fmt: skip
    add_options(parser, *names, seeds=seeds)
    parser.add_argument(
        "--update-expected", action="store_true", help="keep the records as the committed ones"
    )
    _add_out(parser)
    add_quiet(parser)


def _add_scores(to: Commands) -> None:
    examples = [
        "scores",
        "scores --from results --figures pdf",
        "scores my-detector --beside api-sequence --format latex",
    ]
    parser = add(to, "scores", scores_command, "score detectors from their records", examples)
    parser.add_argument("detectors", nargs="*", metavar="DETECTOR", help="default: all")
    parser.add_argument(
        "--from",
        dest="source",
        choices=("expected", "results", "both", "submissions"),
        help="whose records: the committed ones, yours, both (yours, and the committed ones of other detectors), or "
        "submissions (those, and the committed ones); default: expected",
    )
    parser.add_argument(
        "--beside", nargs="+", default=(), metavar="DETECTOR",
        help="your records beside the committed ones of these, on the programs that all were shown",
    )  # fmt: skip
    parser.add_argument(
        "--bugs", nargs="+", default=(), metavar="BUG[/CASE]", help="only these, and all controls"
    )
    parser.add_argument(
        "--common", action="store_true", help="only programs that all of the detectors were shown"
    )
    parser.add_argument(
        "--isolated",
        action="store_true",
        help="only records of programs that ran in namespaces (docs/isolation.md)",
    )
    formats = ("table", "csv", "json", "markdown", "latex")
    parser.add_argument(
        "--format", choices=formats, default="table", help="of what is printed; default: table"
    )
    kinds = ("png", "pdf", "svg", "none")
    parser.add_argument(
        "--figures",
        choices=kinds,
        default="png",
        help="their format, or none of them; default: png",
    )
    add_options(parser, "label", "results")
    _add_out(parser)


def _add_out(parser: Parser) -> None:
    parser.add_argument(
        "--out", type=Path, default=Path("scores"), metavar="DIR", help="default: ./scores"
    )
    add_json(parser)


def detectors_command(arguments: Namespace) -> int:
    """Print the detectors of the catalogue."""
    from evaluation.catalog import detectors

    root = api.load().root
    known = [detectors.load(root, name) for name in detectors.names(root)]
    if arguments.json:
        print_json([of_detector(detector) for detector in known])
        return 0
    rows = [["DETECTOR", "WHAT IT LOOKS FOR", "NEEDS", "RULES", "TORCH", "VERSION"]]
    for detector in known:
        needs, rules = ", ".join(sorted(detector.needs)), ", ".join(detector.alarm_rules)
        rows.append(
            [detector.name, detector.title, needs, rules, detector.torch or "any", detector.version]
        )
    show_table(rows)
    return 0


def evaluate_command(arguments: Namespace) -> int:
    """Evaluate detectors; status 1 where a check failed, 2 where a program does not run, or a record cannot be read."""
    # Fails before any detector is asked where pandas or matplotlib is not installed.
    import pandas as pandas

    from evaluation.running import campaign
    from evaluation.running.promote import homes, refuse_part
    from plots.detectors import draw as draw
    from runner.progress.lines import on_stderr
    from runner.session.promote import refuse_installed
    from runner.session.session import Session, connected

    catalog, how = api.load(), options(arguments)
    plan = _campaign(arguments, catalog.root)
    folders = homes(plan, catalog.root) if arguments.update_expected else {}
    if folders:
        refuse_installed("--update-expected", folders.values())
        refuse_part(plan, how, catalog.root)
    with connected(how) as cluster:
        session = Session(catalog, how, on_stderr(arguments.quiet), cluster)
        result = campaign.run(plan, session)
    if not result.checks:
        raise UsageError("no detector was asked about any program; name other bugs or --references")
    unread = _show(plan, result, session, arguments)
    _promote(plan, result, folders, arguments)
    for subject in result.broken:
        session.progress.note(f"{subject.run.name}: does not run by itself, no detector was asked")
    failed = any(record.status in FAILED for record in result.checks)
    arguments.status = 2 if result.broken or unread else 1 if failed else 0
    return int(arguments.status)


def _show(
    plan: "Campaign", result: "Result", session: "Session", arguments: Namespace
) -> Sequence[str]:
    """Print the scores of what was asked, and write them; returns a line for each file that cannot be read."""
    from evaluation.reading.load import load_results
    from evaluation.reading.sources import RecordSelection, read_rewritten
    from evaluation.records import Records

    rules = {detector.name: detector.alarm_rules for detector in plan.detectors}
    out = Out(arguments.out / plan.rewriting if plan.rewriting else arguments.out)
    # A rule is chosen by all that is known of a detector, as by `scores --from results`.
    every = load_results(result.folder, sorted(rules))
    read = Records(result.checks, result.overheads, rules, whole=every.checks)
    scored = show_scores(read, arguments, out)
    unread: Sequence[str] = every.problems
    if not plan.rewriting:
        print(unreadable(unread), end="", file=sys.stderr)
        show_seeds(read, scored, arguments, out)
    else:
        published = load_results(session.store.root / "detectors", sorted(rules)).problems
        print(unreadable(published), end="", file=sys.stderr)
        part = RecordSelection(sorted(rules), "results", session.store.root)
        rewritten = show_rewritten(
            read_rewritten(session.catalog, part), None, arguments, Out(arguments.out)
        )
        unread = [*published, *rewritten]
    print(f"records: {result.folder.resolve()}", file=beside(arguments))
    return unread


def _promote(
    plan: "Campaign", result: "Result", folders: Mapping[str, Path], arguments: Namespace
) -> None:
    """Commit the records to these folders, by detector, and write what is made of them anew."""
    from evaluation.reading.seeds import committed_with_seeds
    from evaluation.running.promote import promote_checks, renew_side_by_side
    from evaluation.store.committed import CommittedChecks

    def tabulate(folder: Path, copy: Path) -> None:
        scored, out = None, Out(copy, shown=folder)
        if not plan.rewriting:
            # Of a submission the tables are enough.
            figures = "png" if folder.name == "expected" else "none"
            scored = show_scores(CommittedChecks(copy).read(), arguments, out, figures, second=True)
            show_seeds(committed_with_seeds([copy]), scored, arguments, out)
        show_rewritten(renew_side_by_side(copy), scored, arguments, out)

    promote_checks(plan, result, folders, tabulate)


def _campaign(arguments: Namespace, root: Path) -> "Campaign":
    from evaluation.catalog import detectors
    from evaluation.running.campaign import Campaign

    return Campaign(
        detectors=[detectors.load(root, name) for name in arguments.detector],
        bugs=arguments.bugs,
        controls=arguments.controls,
        references=tuple(arguments.references),
        overhead_on=None if arguments.overhead == "none" else arguments.overhead,
        repeats=arguments.repeats,
        force=arguments.ask_again,
        timeout_s=arguments.check_timeout_s,
        upstream=arguments.upstream,
        all_seeds=arguments.all_seeds,
        perturb=arguments.perturb,
        plant=arguments.plant,
    )


def _note_stale(checks: "Sequence[CheckRecord]") -> None:
    """Say which share of the records of controls are of scripts that have changed since."""
    from evaluation.catalog import controls
    from evaluation.model import CONTROL
    from evaluation.running.stale import stale_controls

    stale = stale_controls(checks, controls.load(api.load().root))
    if stale:
        shown = sum(check.kind == CONTROL for check in checks)
        print(
            f"{len(stale)} of {shown} records of controls are stale: their scripts have changed since; "
            "evaluate the detectors anew",
            file=sys.stderr,
        )


def scores_command(arguments: Namespace) -> int:
    """Score detectors from their records; status 2 where some cannot be read."""
    from evaluation.reading.sources import RecordSelection, read_records, read_rewritten, read_seeds
    from evaluation.records import OLDER_CODE, REPLACED

    arguments.json = arguments.json or arguments.format == "json"
    how = options(arguments)
    source: ScoreSource = arguments.source or ("results" if arguments.beside else "expected")
    chosen = arguments.bugs, how.label, arguments.common, arguments.beside, arguments.isolated
    part = RecordSelection(arguments.detectors, source, how.results, *chosen)
    read = read_records(api.load(), part)
    arguments.status = 2 if read.problems else 0
    print(unreadable(read.problems), end="", file=sys.stderr)
    older = read.excluded_count(OLDER_CODE)
    if older:
        print(f"{older} records of older code of a detector are left out", file=sys.stderr)
    _note_stale(read.checks)
    replaced = read.excluded_detectors(REPLACED)
    if replaced:
        print(
            f"of {', '.join(replaced)} the committed records are left out for those of yours",
            file=sys.stderr,
        )
    out = Out(arguments.out)
    scored = show_scores(read, arguments, out, arguments.figures)
    # Of a part of the programs there is no further table.
    by_seeds = None if any(chosen) else read_seeds(api.load(), part, read)
    show_seeds(by_seeds, scored, arguments, out)
    if not any(chosen) and show_rewritten(read_rewritten(api.load(), part), scored, arguments, out):
        arguments.status = 2
    return int(arguments.status)
