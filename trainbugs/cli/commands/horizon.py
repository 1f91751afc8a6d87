"""The subcommand horizon: runs of twice the length, which show whether a harm lasts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.errors import UsageError
from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.exits import INVALID, SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_quiet, add_session_options
from trainbugs.cli.terminal import show_table

if TYPE_CHECKING:
    from runner.bugs.bug import Bug, Target
    from runner.bugs.catalog import Catalog
    from runner.studies.horizon import HorizonRow

HELP = Help(
    "run a bug for twice as long, and see whether its harm lasts",
    ["horizon MONAI-4650", "horizon Bolts-654/iris", "horizon MONAI-4650 --update-expected"],
)
SESSION_OPTIONS = (
    "device", "data", "network", "max_memory_gb", "force", "jobs", "executor", "results",
)  # fmt: skip


@dataclass(frozen=True)
class HorizonOptions:
    """The options of `trainbugs horizon`."""

    bugs: tuple[str, ...]
    session: Options
    update_expected: bool
    quiet: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add horizon."""
    parser = add_command(
        subparsers, "horizon", run_horizons, HorizonOptions, HELP, unfinished=INVALID
    )
    parser.add_argument(
        "bugs", nargs="+", metavar="BUG[/CASE]", help="what to run; also a bug directory"
    )
    add_session_options(parser, *SESSION_OPTIONS)
    parser.add_argument(
        "--update-expected",
        action="store_true",
        help="keep the values in expected/horizon.csv of the bug",
    )
    add_quiet(parser)


def run_horizons(options: HorizonOptions) -> ExitStatus:
    """Run bugs for twice as long, and print what their harm is judged by at the end."""
    from runner.progress.lines import on_stderr
    from runner.session.promote import refuse_installed, refuse_uncommitted
    from runner.session.session import record_targets
    from runner.studies.horizon import refuse_unfit, rows

    catalog, progress = api.load(), on_stderr(options.quiet)
    selected = [_select(catalog, name) for name in options.bugs]
    if options.update_expected:
        # Before hours of runs that could not be kept.
        refuse_installed("--update-expected", (bug.directory for bug, _ in selected))
        refuse_uncommitted(bug for bug, _ in selected)
    for bug, targets in selected:
        recorded = record_targets(catalog, targets, options.session, progress)
        records = [record for _, records in recorded for record in records]
        table = rows(bug, records)
        show_table(_shown(table))
        if options.update_expected:
            refuse_unfit(bug, records)
            _write(bug, table)
    return SUCCESS


def _select(catalog: "Catalog", name: str) -> "tuple[Bug, list[Target]]":
    """The bug that a name begins with, and its named cases, or all, in twice their length;
    raises UsageError.
    """
    from runner.bugs.program import VARIANTS
    from runner.studies.horizon import horizon_targets

    selected = catalog.select([name])
    if any(target.variants != VARIANTS for target in selected):
        raise UsageError(f"{name!r}: expected BUG or BUG/CASE; both programs are run")
    bug = selected[0].bug
    targets = horizon_targets(bug, [target.case.name for target in selected])
    if not targets:
        raise UsageError(f"{name} declares no harm.length, so that nothing can be doubled")
    return bug, targets


def _shown(table: "list[HorizonRow]") -> list[list[str]]:
    shown = [["CASE", "VARIANT", "SEED", "VALUE AT THE END"]]
    for row in table:
        shown.append([row.case, row.variant, str(row.seed), f"{row.value:.6g}"])
    return shown


def _write(bug: "Bug", table: "list[HorizonRow]") -> None:
    """Keep the rows with the bug, and the rows that other cases have there."""
    from runner.files.atomic import write_text
    from runner.studies.horizon import FILE, read, text

    written = {row.case for row in table}
    others = [row for row in read(bug) if row.case in bug.cases.keys() - written]
    write_text(bug.expected / FILE, text([*others, *table]))
    print(f"written: {bug.expected / FILE}")
