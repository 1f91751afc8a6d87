"""The parser of the command line: subcommands, their options,
and the objects that hold what is typed.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from types import UnionType
from typing import Any, NoReturn, TypeAlias, TypeVar, get_args

from runner.errors import UsageError
from runner.session.options import Options
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.types import PARSERS


class Parser(argparse.ArgumentParser):
    """An argparse parser whose usage errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, which `main` prints as one line."""
        raise UsageError(f"{message}; `{self.prog} --help` shows examples")


class Formatter(argparse.RawDescriptionHelpFormatter):
    """The formatter of help: it wraps what a command does, and leaves examples, which have lines,
    as they are.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


# argparse has no public name for it.
Subparsers: TypeAlias = "argparse._SubParsersAction[Parser]"
CommandOptions = TypeVar("CommandOptions")


@dataclass(frozen=True)
class Help:
    """What the help of a subcommand says: what it does, in one line,
    and examples without the program's name.
    """

    text: str
    examples: Sequence[str]


def add_command(
    subparsers: Subparsers,
    name: str,
    command: Callable[[CommandOptions], ExitStatus],
    options: type[CommandOptions],
    help: Help,
    unfinished: ExitStatus = SUCCESS,
) -> Parser:
    """Add a subcommand: its function, and the dataclass of its options,
    whose fields are named like the arguments.

    `unfinished` is the exit status where the reader of the output goes away before the command
    knows its own.
    """
    parser = subparsers.add_parser(
        name,
        help=help.text,
        description=help.text[0].upper() + help.text[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  trainbugs {example}" for example in help.examples),
        formatter_class=Formatter,
    )

    def call(namespace: argparse.Namespace) -> ExitStatus:
        return command(from_namespace(options, namespace))

    parser.set_defaults(call=call, prog=parser.prog, unfinished=unfinished)
    return parser


def from_namespace(options: type[CommandOptions], namespace: argparse.Namespace) -> CommandOptions:
    """The options of a command as typed; a field `session` gets the options of a session;
    raises UsageError.

    An argument that is not in the namespace leaves its field at the default.
    """
    values: dict[str, Any] = {}
    for field in fields(options):  # type: ignore[arg-type]
        if field.name == "session":
            values["session"] = session_options(namespace)
        elif hasattr(namespace, field.name):
            values[field.name] = _frozen(getattr(namespace, field.name))
    return options(**values)


def session_options(namespace: argparse.Namespace) -> Options:
    """The options of a session as typed, with defaults for all others; raises UsageError."""
    names = [field.name for field in fields(Options) if hasattr(namespace, field.name)]
    return Options(**{name: _frozen(getattr(namespace, name)) for name in names})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add the option --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def add_figures(parser: argparse._ActionsContainer) -> None:
    """Add the option --figures: the format of figures of scores."""
    parser.add_argument(
        "--figures",
        choices=("png", "pdf", "svg", "none"),
        default="png",
        help="format of the figures, or none; default: png",
    )


def add_quiet(parser: Parser) -> None:
    """Add the option --quiet."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="no progress on standard error, only errors"
    )


def add_session_options(parser: Parser, *names: str, **texts: str) -> None:
    """Add the named options of a session, in the order of `Options`;
    `texts` are other help texts for some.
    """
    option_names = {*names, *texts}
    if "data" not in option_names:
        # A command that reads no data does not look at TRAINBUGS_DATA.
        parser.set_defaults(data=None)
    for field in fields(Options):
        if field.name in option_names:
            _add_option(parser, field, texts.get(field.name, field.metadata.get("help", "")))


def _add_option(parser: Parser, field: "Field[Any]", text: str) -> None:
    flags = [field.metadata["flag"]] if field.name != "jobs" else ["-j", field.metadata["flag"]]
    kind = get_args(field.type)[0] if isinstance(field.type, UnionType) else field.type
    value: dict[str, Any] = {
        "type": PARSERS.get(field.name, PARSERS.get(kind)),
        "metavar": field.metadata["metavar"],
    }
    if kind is bool:
        value = {"action": "store_false" if field.default else "store_true"}
    if kind == tuple[str, ...]:
        value["action"] = "append"
    # An option that is not typed is left out of the namespace, so that the default is that of
    # `Options`.
    parser.add_argument(*flags, dest=field.name, help=text, default=argparse.SUPPRESS, **value)
