"""The subcommand validate: what is wrong with bug directories."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.documents import print_json
from trainbugs.cli.exits import FAILURE, SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json, add_session_options
from trainbugs.cli.terminal import show_text

if TYPE_CHECKING:
    from runner.authoring.devices import DeviceCheck
    from runner.bugs.bug import Target
    from runner.bugs.catalog import Catalog

HELP = Help(
    "check that bug directories are well formed",
    [
        "validate",
        "validate SO-60335387",
        "validate my/own/bug",
        "validate --devices SO-60335387    # needs no GPU",
    ],
)
SESSION_OPTIONS = ("data", "network", "trust_environments", "results")


@dataclass(frozen=True)
class ValidateOptions:
    """The options of `trainbugs validate`."""

    bugs: tuple[str, ...]
    json: bool
    devices: bool
    session: Options


def add_arguments(subparsers: Subparsers) -> None:
    """Add validate."""
    parser = add_command(subparsers, "validate", validate_bugs, ValidateOptions, HELP)
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    parser.add_argument(
        "--devices",
        action="store_true",
        help="run the scripts as if there were a GPU, and say where they mix devices",
    )
    add_session_options(parser, *SESSION_OPTIONS)
    add_json(parser)


def validate_bugs(options: ValidateOptions) -> ExitStatus:
    """Print what is wrong with bug directories; FAILURE where anything is."""
    if options.devices:
        return _validate_devices(options)
    problems_by_name = {}
    for name, problems in _validate(api.load(), options):
        problems_by_name[name] = problems
        if not options.json:
            show_text("\n  ".join([f"{name}: {_summary(problems)}", *problems]))
    if options.json:
        print_json(
            [{"name": name, "problems": problems} for name, problems in problems_by_name.items()]
        )
    return FAILURE if any(problems_by_name.values()) else SUCCESS


def _validate(catalog: "Catalog", options: ValidateOptions) -> Iterator[tuple[str, list[str]]]:
    """The named bugs, or all, with their problems;
    raises CatalogError for a name that is no bug.
    """
    from runner.authoring.validate import problems

    ids = catalog.ids()
    for name in options.bugs or ids:
        directory = catalog.root / "bugs" / name if name in ids else Path(name)
        if not directory.is_dir():
            catalog.bug(name)
        yield name, problems(directory, catalog.root)


def _summary(problems: list[str]) -> str:
    if not problems:
        return "well formed"
    return f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"


def _validate_devices(options: ValidateOptions) -> ExitStatus:
    """Print what each program does with devices; FAILURE where one mixes them, or crashes."""
    from dataclasses import replace

    from msgspec import to_builtins

    from runner.authoring.devices import ERRORS, check_devices
    from runner.progress.lines import on_stderr
    from runner.session.session import Session

    catalog = api.load()
    targets: list[Target] = catalog.select(options.bugs or catalog.active())
    session = Session(catalog, replace(options.session, device="cpu"), on_stderr())
    checks: list[DeviceCheck] = []
    for check in check_devices(session, targets):
        checks.append(check)
        if not options.json:
            show_text(_told(check))
    if options.json:
        print_json([to_builtins(check) for check in checks])
    return FAILURE if any(check.status in ERRORS for check in checks) else SUCCESS


def _told(check: "DeviceCheck") -> str:
    end = "" if check.whole else f", {check.reason}"
    steps = f" ({check.steps} steps of optimizers{end})" if check.status == "passed" else ""
    why = "" if check.status == "passed" else f": {check.reason}"
    return f"{check.case}/{check.variant}: {check.status}{steps}{why}"
