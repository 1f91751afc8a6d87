"""The subcommand run: runs bugs and judges whether they reproduce."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from runner.errors import ResultsError, UsageError
from trainbugs import api
from trainbugs.cli.documents import beside, of_outcome, of_record, print_json
from trainbugs.cli.figures import draw, show_drawn
from trainbugs.cli.terminal import show_table, show_verdicts
from trainbugs.cli.types import Commands, add, add_json, add_options, add_quiet, options

if TYPE_CHECKING:
    from runner.bugs.catalog import Catalog
    from runner.bugs.model import Bug, Target
    from runner.results.record import RunRecord
    from runner.session.options import Options
    from runner.verdicts.outcome import Outcome

EXAMPLES = [
    "run PyTorch-115607",
    "run SO-60335387/digits --seeds 0 --figures",
    "run SO-60335387/lr1e-4 --data DIR       # that holds MNIST/raw",
    "run PyTorch-115607/simple --python ~/venv/bin/python --device cuda",
    "run PyTorch-115607 --inject --environment torch-2.13.0",
    "run --all -j 2",
    "run --label compiler",
    "run my/own/bug --record-only            # needs no expectations",
]
OPTIONS = (
    "label", "seeds", "device", "python", "environment", "data", "timeout_s", "network", "max_memory_gb", "force",
    "repeat", "jobs", "gpus", "per_gpu", "executor", "inject",
    "trust_environments", "results",
)  # fmt: skip


def add_commands(to: Commands) -> None:
    """Add run."""
    parser = add(to, "run", run_command, "run bugs and judge whether they reproduce", EXAMPLES)
    parser.set_defaults(status=2)
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="BUG[/CASE[/VARIANT]]",
        help="what to run; also a bug directory",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="run the whole catalogue, or all with a --label, less what is retired or lacks data",
    )
    add_options(parser, *OPTIONS)
    parser.add_argument(
        "--record-only",
        action="store_true",
        help="run and show what was recorded, without a verdict or expectations",
    )
    parser.add_argument(
        "--upstream",
        action="store_true",
        help="also the buggy scripts in the first release with the real fix",
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
        help="of figures; default: ./figures",
    )
    add_json(parser)
    add_quiet(parser)


def run_command(arguments: Namespace) -> int:
    """Run the named targets and print the verdicts; status 0 if all REPRODUCED, 1 if some not, 2 if INVALID.

    With --record-only what was recorded is printed; status 0 if all runs ended as they should, else 2.
    """
    from runner.progress.lines import on_stderr
    from runner.session.promote import promote_runs, refuse_installed
    from runner.session.session import record_targets, run_targets
    from trainbugs.cli.text import exit_status

    if arguments.record_only and arguments.update_expected:
        raise UsageError(
            "--update-expected needs verdicts, and --record-only gives none; leave out one of them"
        )
    if arguments.figures or arguments.update_expected:
        # Fails before anything is run where matplotlib is not installed.
        from plots.figures import CaseRuns as CaseRuns
    catalog, how, progress, to = (
        api.load(),
        options(arguments),
        on_stderr(arguments.quiet),
        beside(arguments),
    )
    targets, notes = _targets(arguments, catalog, how)
    if arguments.update_expected:
        refuse_installed("--update-expected", (target.bug.directory for target in targets))
    for note in notes:
        progress.note(note)
    if arguments.record_only:
        return _record(record_targets(catalog, targets, how, progress), arguments, how)
    outcomes = run_targets(catalog, targets, how, progress)
    arguments.status = exit_status(outcomes)
    _show(outcomes, how, arguments.json)
    print(f"\nrecords, logs and verdicts: {how.results.resolve()}", file=to)
    if arguments.update_expected:
        print(
            f"expected records: {len(promote_runs(outcomes, partial(_draw_expected, to)))} written",
            file=to,
        )
    _draw([(outcome.target, outcome.records) for outcome in outcomes], arguments)
    return int(arguments.status)


def _draw_expected(to: TextIO, bug: "Bug", folder: Path) -> None:
    """Draw the committed figures of a bug into a copy of its `expected`, and say where they will be."""
    from plots.figures import draw_expected

    drawn = draw_expected(bug, folder)
    paths = tuple(bug.expected / path.relative_to(folder) for path in drawn.paths)
    show_drawn(replace(drawn, paths=paths), to)


def _record(
    done: "Sequence[tuple[Target, Sequence[RunRecord]]]", arguments: Namespace, how: "Options"
) -> int:
    from runner.results.store import Store
    from trainbugs.cli.text import record_rows

    records = [record for _, of_target in done for record in of_target]
    arguments.status = 0 if all(record.ok for record in records) else 2
    if arguments.json:
        store = Store(how.results.resolve())
        print_json([of_record(record, store) for record in records])
    else:
        show_table(record_rows(records))
    print(f"\nrecords and logs: {how.results.resolve()}", file=beside(arguments))
    _draw(done, arguments)
    return int(arguments.status)


def _draw(done: "Sequence[tuple[Target, Sequence[RunRecord]]]", arguments: Namespace) -> None:
    if not arguments.figures:
        return
    from plots.figures import CaseRuns

    try:
        runs = [CaseRuns(target.bug, target.case, tuple(records)) for target, records in done]
        draw(runs, arguments.out, "png", beside(arguments))
    except ResultsError as error:  # what was run stands, and so does the status
        print(f"trainbugs: {error}", file=sys.stderr)


def _show(outcomes: "Sequence[Outcome]", how: "Options", as_json: bool) -> None:
    from runner.results.store import Store
    from trainbugs.cli.text import verdict_rows

    if as_json:
        store = Store(how.results.resolve())
        print_json([of_outcome(outcome, store) for outcome in outcomes])
    else:
        show_verdicts(verdict_rows(outcomes), column=1)


def _targets(
    arguments: Namespace, catalog: "Catalog", how: "Options"
) -> "tuple[list[Target], list[str]]":
    """The targets to run, and a note for each one that is left out."""
    from runner.bugs.catalog import with_upstream
    from runner.session.selection import to_run

    if (arguments.all and arguments.targets) or not (
        arguments.all or arguments.targets or how.label
    ):
        raise UsageError(
            "name the bugs to run, or all of them by --all, or --label; `trainbugs list` shows them"
        )
    if arguments.upstream and how.elsewhere:
        raise UsageError(
            "--upstream names a release itself: leave it out, or --environment and --inject"
        )
    targets, notes = to_run(catalog, arguments.targets, how)
    return [with_upstream(target) for target in targets] if arguments.upstream else targets, notes
