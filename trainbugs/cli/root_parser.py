"""The parser of the whole command line: its subcommands, and the option that prints the version."""

import argparse
from importlib import import_module

from runner.errors import UsageError
from trainbugs.cli.parser import Formatter, Parser

# The subcommands, in the order of the help; each is a module of trainbugs.cli.commands.
COMMANDS = (
    "list", "info", "checkout", "new", "tables", "validate", "run", "study", "horizon",
    "iterations", "figures", "results", "env", "versions", "why", "detectors", "evaluate", "scores",
    "review", "repair", "submit", "watch", "site", "export", "completion",
)  # fmt: skip


class VersionAction(argparse.Action):
    """The option that prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it, and end the program."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"trainbugs {version('trainbugs')}")
        except PackageNotFoundError as error:
            raise UsageError(
                "only an installed package has a version; run `pip install -e .` here"
            ) from error
        parser.exit()


def build_parser(command: str = "") -> Parser:
    """The parser of the command line, of one subcommand or of all;
    `call` holds the function of each.
    """
    root = Parser(
        prog="trainbugs",
        description="Silent training bugs of PyTorch programs, reproduced for real.",
        epilog="examples:\n  trainbugs list\n  trainbugs run PyTorch-115607\n  trainbugs figures\n"
        '  eval "$(trainbugs completion bash)"      # this shell completes names\n\n'
        "`trainbugs COMMAND --help` shows the options of a command.",
        formatter_class=Formatter,
    )
    root.add_argument(
        "-V", "--version", action=VersionAction, nargs=0, help="show the version and exit"
    )
    subparsers = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    # All are there to be listed; one that is called needs no other.
    for name in (command,) if command in COMMANDS else COMMANDS:
        import_module(f"trainbugs.cli.commands.{name}").add_arguments(subparsers)
    return root
