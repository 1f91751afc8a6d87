"""The parser of the command line, and the types of its options."""

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from types import UnionType
from typing import Any, NoReturn, TypeAlias, get_args

from runner.errors import UsageError
from runner.session.options import DEVICES, Options

# Of rewritten programs; it is part of the name of a folder.
MAX_SEED = 10**9


class Parser(argparse.ArgumentParser):
    """An argparse parser whose usage errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, which `main` prints as one line."""
        raise UsageError(f"{message}; `{self.prog} --help` shows examples")


class Formatter(argparse.RawDescriptionHelpFormatter):
    """The formatter of help: it wraps what a command does, and leaves examples, which have lines, as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # argparse has no public name for it
Call = Callable[[argparse.Namespace], int]


def add(to: Commands, name: str, call: Call, text: str, examples: Sequence[str]) -> Parser:
    """Add a subcommand with its function, what it does in one line, and examples without the program's name."""
    parser = to.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  trainbugs {example}" for example in examples),
        formatter_class=Formatter,
    )
    parser.set_defaults(call=call, prog=parser.prog)
    return parser


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add the option --json."""
    parser.add_argument(
        "--json", action="store_true", help="one JSON document on standard output instead"
    )


def add_quiet(parser: Parser) -> None:
    """Add the option --quiet."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="no progress on standard error, only errors"
    )


def add_options(parser: Parser, *names: str, **texts: str) -> None:
    """Add the named options of a session, in the order of `Options`; `texts` are other help texts for some."""
    chosen = {*names, *texts}
    if "data" not in chosen:
        # A command that reads no data does not look at TRAINBUGS_DATA.
        parser.set_defaults(data=None)
    for field in fields(Options):
        if field.name in chosen:
            _add_option(parser, field, texts.get(field.name, field.metadata.get("help", "")))


def options(arguments: argparse.Namespace) -> Options:
    """The options of a session as typed, with defaults for all others; raises UsageError."""
    return Options(
        **{field.name: value for field in fields(Options) for value in _typed(arguments, field)}
    )


def _typed(arguments: argparse.Namespace, field: "Field[Any]") -> list[Any]:
    if not hasattr(arguments, field.name):
        return []
    value = getattr(arguments, field.name)
    return [tuple(value) if isinstance(value, list) else value]


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
    # An option that is not typed is left out of the namespace, so that the default is that of `Options`.
    parser.add_argument(*flags, dest=field.name, help=text, default=argparse.SUPPRESS, **value)


def count(text: str) -> int:
    """Parse a number of things, at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of at least 1")
    return int(text)


def numbers(text: str) -> tuple[int, ...]:
    """Parse a list of seeds, or of GPUs: different numbers >= 0, separated by commas."""
    try:
        values = tuple(int(part) for part in text.split(","))
    except ValueError:
        values = ()
    if not values or min(values) < 0 or len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected different numbers >= 0, separated by commas, like 0,1,2"
        )
    return values


def seed(text: str) -> int:
    """Parse one seed: a number >= 0, as a record can hold it."""
    if not text.isdecimal() or int(text) > MAX_SEED:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to {MAX_SEED}")
    return int(text)


def device(text: str) -> str:
    """Parse the name of a device."""
    if not re.fullmatch(DEVICES, text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected auto, cpu, cuda or cuda:N")
    return text


def positive(text: str) -> float:
    """Parse a number above 0, of seconds for example."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0")
    return seconds


# The functions that parse what is typed, by the name of the option or else the type of its field.
PARSERS: dict[Any, Callable[[str], Any]] = {
    "device": device,
    int: count,
    float: positive,
    str: str,
    Path: Path,
    tuple[int, ...]: numbers,
    tuple[str, ...]: str,
}
