"""The parser of the command line, and the types of its options."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from types import UnionType
from typing import Any, NoReturn, TypeAlias, get_args

from runner.errors import UsageError
from runner.session.options import Options


class Parser(argparse.ArgumentParser):
    """An argparse parser whose usage errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; `{self.prog} --help` shows examples")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # argparse has no public name for it
Call = Callable[[argparse.Namespace], int]


def add(to: Commands, name: str, call: Call, text: str, examples: Sequence[str]) -> Parser:
    """A subcommand: what it does in one line, and examples of it without the program's name."""
    made = to.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  trainbugs {example}" for example in examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.set_defaults(call=call)
    return made


def add_options(made: Parser, *names: str, **texts: str) -> None:
    """Those options of a session that are named, in the order of `Options`; `texts` are other help for some of them."""
    wanted = {*names, *texts}
    for field in fields(Options):
        if field.name in wanted:
            _add_option(made, field, texts.get(field.name, field.metadata.get("help", "")))


def options(arguments: argparse.Namespace) -> Options:
    """The options of a session that were typed; of all others the default."""
    return Options(**{field.name: value for field in fields(Options) for value in _typed(arguments, field)})


def _typed(arguments: argparse.Namespace, field: "Field[Any]") -> list[Any]:
    return [getattr(arguments, field.name)] if hasattr(arguments, field.name) else []


def _add_option(made: Parser, field: "Field[Any]", text: str) -> None:
    flags = [field.metadata["flag"]] if field.name != "jobs" else ["-j", field.metadata["flag"]]
    kind = get_args(field.type)[0] if isinstance(field.type, UnionType) else field.type
    value: dict[str, Any] = {"type": PARSERS.get(kind), "metavar": field.metadata["metavar"]}
    if kind is bool:
        value = {"action": "store_false" if field.default else "store_true"}
    # What is not typed is left out of the namespace: the default is that of `Options`.
    made.add_argument(*flags, dest=field.name, help=text, default=argparse.SUPPRESS, **value)


def count(text: str) -> int:
    """A number of things."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of at least 1")
    return int(text)


def numbers(text: str) -> tuple[int, ...]:
    """A list of seeds, or of GPUs."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{text!r}: expected different numbers >= 0, separated by commas, like 0,1,2")
    return found


def positive(text: str) -> float:
    """A number of seconds, or of something else that has to be there."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0")
    return seconds


# How what is typed becomes the value of an option, by the type of its field.
PARSERS: dict[Any, Callable[[str], Any]] = {int: count, float: positive, str: str, Path: Path, tuple[int, ...]: numbers}
