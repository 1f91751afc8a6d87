"""The subcommand validate: what is wrong with bug directories."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainbugs import api
from trainbugs.cli.documents import print_json
from trainbugs.cli.exits import FAILURE, SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json
from trainbugs.cli.terminal import show_text

if TYPE_CHECKING:
    from runner.bugs.catalog import Catalog

HELP = Help(
    "check that bug directories are well formed",
    ["validate", "validate SO-60335387", "validate my/own/bug"],
)


@dataclass(frozen=True)
class ValidateOptions:
    """The options of `trainbugs validate`."""

    bugs: tuple[str, ...]
    json: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add validate."""
    parser = add_command(subparsers, "validate", validate_bugs, ValidateOptions, HELP)
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    add_json(parser)


def validate_bugs(options: ValidateOptions) -> ExitStatus:
    """Print what is wrong with bug directories; FAILURE where anything is."""
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
