"""The subcommand info: all that is known about one bug."""

from dataclasses import dataclass

from msgspec import structs

from trainbugs import api
from trainbugs.cli.documents import print_json
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json
from trainbugs.cli.terminal import show_text
from trainbugs.cli.text import bug_text
from trainbugs.descriptions import bug_document

HELP = Help(
    "show what is known of a bug",
    ["info SO-60335387", "info SO-60335387/digits", "info SO-60335387 --json"],
)


@dataclass(frozen=True)
class InfoOptions:
    """The options of `trainbugs info`."""

    bug: str
    json: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add info."""
    parser = add_command(subparsers, "info", show_bug, InfoOptions, HELP)
    parser.add_argument(
        "bug",
        metavar="BUG[/CASE]",
        help="ID of a bug, or a bug directory; with CASE that case only",
    )
    add_json(parser)


def show_bug(options: InfoOptions) -> ExitStatus:
    """Print all that is known about one bug, and about its cases or the one that is named."""
    targets = api.load().select([options.bug])
    cases = {target.case.name: target.case for target in targets}
    bug = structs.replace(targets[0].bug, cases=cases)
    if options.json:
        print_json(bug_document(bug))
    else:
        show_text(bug_text(bug))
    return SUCCESS
