"""The subcommand run: runs bugs and judges whether they reproduce."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from runner.errors import ResultsError, UsageError
from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.documents import outcome_document, print_json, record_document
from trainbugs.cli.drawing import draw_runs, print_drawn
from trainbugs.cli.exits import INVALID, ExitStatus, invalid_if, reporting, verdict_status
from trainbugs.cli.parser import (
    Help,
    Subparsers,
    add_command,
    add_json,
    add_quiet,
    add_session_options,
)
from trainbugs.cli.terminal import show_table, show_verdicts, side_stream
from trainbugs.cli.types import count, seed

if TYPE_CHECKING:
    from runner.bugs.bug import Bug, Target
    from runner.bugs.catalog import Catalog
    from runner.progress.lines import Progress
    from runner.results.record import RunRecord
    from runner.verdicts.outcome import Outcome

HELP = Help(
    "run bugs and judge whether they reproduce",
    [
        "run PyTorch-115607",
        "run SO-60335387/digits --seeds 0 --figures",
        "run SO-60335387/lr1e-4 --data DIR       # DIR holds MNIST/raw",
        "run PyTorch-115607/simple --python ~/venv/bin/python --device cuda",
        "run PyTorch-115607 --inject --environment torch-2.13.0",
        "run --all -j 2",
        "run --all --sample 20 --sample-seed 7   # a random share",
        "run --label compiler",
        "run my/own/bug --record-only            # needs no expectations",
    ],
)
SESSION_OPTIONS = (
    "label", "seeds", "device", "python", "environment", "data", "timeout_s", "network",
    "max_memory_gb", "force", "profile", "repeat", "jobs", "gpus", "per_gpu", "executor", "inject",
    "trust_environments", "results",
)  # fmt: skip


# The phase that holds all others.
WHOLE = "all of it, by the clock"


@dataclass(frozen=True)
class RunOptions:
    """The options of `trainbugs run`."""

    targets: tuple[str, ...]
    all: bool
    sample: int | None
    sample_seed: int
    session: Options
    record_only: bool
    upstream: bool
    figures: bool
    update_expected: bool
    out: Path
    json: bool
    quiet: bool

    @property
    def results(self) -> Path:
        """The whole path of the results folder."""
        return self.session.results.resolve()

    def check(self) -> None:
        """Raise UsageError for options that exclude each other."""
        if self.record_only and self.update_expected:
            raise UsageError(
                "--update-expected needs verdicts, and --record-only gives none; leave out one of "
                "them"
            )
        if self.record_only and self.session.profile:
            raise UsageError("--profile is told beside verdicts: leave out --record-only")
        if self.sample is not None and self.targets:
            raise UsageError("--sample draws from all cases: leave out the names, or --sample")

    def check_targets(self) -> None:
        """Raise UsageError unless the options say what to run, and in which release."""
        everything = self.all or self.session.label
        if (self.all and self.targets) or not (everything or self.targets):
            raise UsageError(
                "name the bugs to run, or all of them by --all, or --label; `trainbugs list` shows "
                "them"
            )
        if self.upstream and self.session.elsewhere:
            raise UsageError(
                "--upstream names a release itself: leave it out, or --environment and --inject"
            )


def add_arguments(subparsers: Subparsers) -> None:
    """Add run."""
    parser = add_command(subparsers, "run", run_bugs, RunOptions, HELP, unfinished=INVALID)
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="BUG[/CASE[/VARIANT]]",
        help="what to run; also a bug directory",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="run all bugs, except retired ones and ones without data; --label chooses among them",
    )
    parser.add_argument(
        "--sample",
        type=count,
        metavar="N",
        help="with --all: only N cases, drawn at random",
    )
    parser.add_argument(
        "--sample-seed",
        type=seed,
        default=0,
        metavar="SEED",
        help="seed of --sample; default: 0",
    )
    add_session_options(parser, *SESSION_OPTIONS)
    parser.add_argument(
        "--record-only",
        action="store_true",
        help="show what was recorded, without a verdict; the bug needs no expectations",
    )
    parser.add_argument(
        "--upstream",
        action="store_true",
        help="also run the buggy scripts in the first release with the real fix",
    )
    parser.add_argument("--figures", action="store_true", help="draw the figures of what was run")
    parser.add_argument(
        "--update-expected", action="store_true", help="keep the records as the bug's expected ones"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for figures; default: ./figures",
    )
    add_json(parser)
    add_quiet(parser)


def run_bugs(options: RunOptions) -> ExitStatus:
    """Run the named targets and print the verdicts: SUCCESS if all REPRODUCED,
    FAILURE if some not, else INVALID.

    With --record-only what was recorded is printed: SUCCESS if all runs ended as they should, else
    INVALID.
    """
    from runner.progress.lines import on_stderr

    options.check()
    if options.figures or options.update_expected:
        # Fails before anything is run where matplotlib is not installed.
        from plots.figures import CaseRuns as CaseRuns
    catalog, progress = api.load(), on_stderr(options.quiet)
    targets = _select(options, catalog, progress)
    if options.record_only:
        return _record(options, catalog, targets, progress)
    return _judge(options, catalog, targets, progress)


def _select(options: RunOptions, catalog: "Catalog", progress: "Progress") -> "list[Target]":
    """The targets to run; those that are left out are noted."""
    from runner.bugs.catalog import with_upstream
    from runner.session.promote import refuse_installed, refuse_uncommitted
    from runner.session.selection import draw_sample, to_run

    options.check_targets()
    targets, notes = to_run(catalog, options.targets, options.session)
    if options.sample is not None:
        targets = draw_sample(targets, options.sample, options.sample_seed)
    if options.upstream:
        targets = [with_upstream(target) for target in targets]
    if options.update_expected:
        refuse_installed("--update-expected", (target.bug.directory for target in targets))
        if options.session.force:
            refuse_uncommitted(target.bug for target in targets)
    for note in notes:
        progress.note(note)
    return targets


def _judge(
    options: RunOptions, catalog: "Catalog", targets: "list[Target]", progress: "Progress"
) -> ExitStatus:
    """Run targets, print their verdicts, and keep records and figures as the options say."""
    from runner.progress.stopwatch import Stopwatch
    from runner.session.promote import promote_runs
    from runner.session.session import run_targets

    stream = side_stream(options.json)
    stopwatch = Stopwatch()
    with stopwatch.phase(WHOLE):
        outcomes = run_targets(catalog, targets, options.session, progress, stopwatch)
    status = verdict_status(outcomes)
    with reporting(status):
        _print_outcomes(outcomes, options)
        if options.session.profile:
            _print_profile(stopwatch.seconds, stream)
        print(f"\nrecords, logs and verdicts: {options.results}", file=stream)
        refusals: list[str] = []
        if options.update_expected:
            draw = partial(_draw_expected, stream)
            records = promote_runs(outcomes, draw, refusals.append)
            print(f"expected records: {len(records)} written", file=stream)
        _draw([(outcome.target, outcome.records) for outcome in outcomes], options)
    for refusal in refusals:
        print(f"trainbugs: {refusal}", file=sys.stderr)
    return INVALID if refusals else status


def _record(
    options: RunOptions, catalog: "Catalog", targets: "list[Target]", progress: "Progress"
) -> ExitStatus:
    """Run targets without judging them, and print what they recorded."""
    from runner.session.session import record_targets

    runs = record_targets(catalog, targets, options.session, progress)
    records = [record for _, records_of_target in runs for record in records_of_target]
    status = invalid_if(not all(record.ok for record in records))
    with reporting(status):
        _print_records(records, options)
        print(f"\nrecords and logs: {options.results}", file=side_stream(options.json))
        _draw(runs, options)
    return status


def _print_outcomes(outcomes: "Sequence[Outcome]", options: RunOptions) -> None:
    from runner.results.store import Store
    from trainbugs.cli.tables import verdict_table

    if options.json:
        store = Store(options.results)
        print_json([outcome_document(outcome, store) for outcome in outcomes])
    else:
        show_verdicts(verdict_table(outcomes), column=1)


def _print_profile(seconds: "Mapping[str, float]", stream: TextIO) -> None:
    """Print the seconds of each phase; phases of runs that are executed at a time overlap."""
    print("\nSECONDS  WHERE", file=stream)
    for phase, spent in seconds.items():
        print(f"{spent:7.2f}  {phase}", file=stream)


def _print_records(records: "Sequence[RunRecord]", options: RunOptions) -> None:
    from runner.results.store import Store
    from trainbugs.cli.tables import record_table

    if options.json:
        store = Store(options.results)
        print_json([record_document(record, store) for record in records])
    else:
        show_table(record_table(records))


def _draw_expected(stream: TextIO, bug: "Bug", folder: Path) -> None:
    """Draw the committed figures of a bug into a copy of its `expected`,
    and say where they will be.
    """
    from plots.figures import draw_expected

    drawn = draw_expected(bug, folder)
    paths = tuple(bug.expected / path.relative_to(folder) for path in drawn.paths)
    print_drawn(replace(drawn, paths=paths), stream)


def _draw(runs: "Sequence[tuple[Target, Sequence[RunRecord]]]", options: RunOptions) -> None:
    """Draw figures of runs if the options say so; the runs stand, and so does the status,
    where that is impossible.
    """
    if not options.figures:
        return
    from plots.figures import CaseRuns

    try:
        cases = [CaseRuns(target.bug, target.case, tuple(records)) for target, records in runs]
        draw_runs(cases, options.out, "png", side_stream(options.json))
    except ResultsError as error:
        print(f"trainbugs: {error}", file=sys.stderr)
