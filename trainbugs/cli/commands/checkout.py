"""The subcommand checkout: a working copy of a bug that runs by hand."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainbugs import api
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command

if TYPE_CHECKING:
    from runner.bugs.bug import Bug
    from runner.bugs.catalog import Catalog
    from runner.environments.spec import Environment

HELP = Help(
    "make a working copy of a bug that runs by hand",
    ["checkout SO-60335387 copy", "checkout SO-60335387/digits copy --blind"],
)


@dataclass(frozen=True)
class CheckoutOptions:
    """The options of `trainbugs checkout`."""

    target: str
    directory: Path
    blind: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add checkout."""
    parser = add_command(subparsers, "checkout", check_out, CheckoutOptions, HELP)
    parser.add_argument(
        "target", metavar="BUG[/CASE[/VARIANT]]", help="what to copy; also a bug directory"
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="a new directory")
    parser.add_argument(
        "--blind",
        action="store_true",
        help="give neutral names, which do not tell which variant is buggy",
    )


def check_out(options: CheckoutOptions) -> ExitStatus:
    """Copy a bug, and print how to run its programs."""
    from runner.authoring.checkout import checkout
    from runner.environments import spec

    catalog = api.load()
    targets = catalog.select([options.target])
    bug = targets[0].bug
    environment = _environment(bug, catalog)
    build = spec.find(environment) if environment else None
    python = str(build.python) if build else "python3"
    for line in checkout(targets, options.directory, options.blind, python):
        print(line)
    if build is None:
        command = f" (`trainbugs env build {environment.shell_name}`)" if environment else ""
        print(
            f"{bug.environment} is not built here{command}: python3 has to have its packages",
            file=sys.stderr,
        )
    return SUCCESS


def _environment(bug: "Bug", catalog: "Catalog") -> "Environment | None":
    """The environment of a bug; None where the catalogue has none of its name,
    as with a bug from elsewhere.
    """
    from runner.environments import spec

    if bug.brought is None and bug.environment not in spec.names(catalog.root):
        return None
    return spec.load(catalog.root, str(bug.brought or bug.environment))
