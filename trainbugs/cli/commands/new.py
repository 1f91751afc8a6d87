"""The subcommand new: the skeleton of a new bug."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from runner.bugs.catalog import installed_root
from trainbugs import api
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command

HELP = Help(
    "make the skeleton of a new bug", ["new PyTorch-1", "new PyTorch-1 --directory my/own/bug"]
)


@dataclass(frozen=True)
class NewOptions:
    """The options of `trainbugs new`."""

    id: str
    environment: str | None
    directory: Path | None


def add_arguments(subparsers: Subparsers) -> None:
    """Add new."""
    parser = add_command(subparsers, "new", make_bug, NewOptions, HELP)
    parser.add_argument("id", metavar="ID", help="the public ID of the bug")
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="its pinned environment; default: the newest one that is built, else the newest one",
    )
    parser.add_argument(
        "--directory",
        type=Path,
        metavar="DIR",
        help="a new directory; default: bugs/ID of the checkout, or ./ID",
    )


def make_bug(options: NewOptions) -> ExitStatus:
    """Make a bug directory, and print the names of its files."""
    from runner.authoring.scaffold import default_environment, new

    root = api.load().root
    bugs = root / "bugs" if installed_root() is None else Path()
    directory = options.directory or bugs / options.id
    environment = options.environment or default_environment(root)
    for path in new(options.id, directory, root, environment):
        print(path)
    print(f"it runs in {environment} (`environment` in config.json)")
    name = shlex.quote(str(options.directory or options.id))
    print(f"fill in what says TODO; `trainbugs validate {name}` tells what is left")
    return SUCCESS
