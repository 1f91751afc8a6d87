"""What do the subcommands share on the command line? The parser, and the types of their options."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

from runner.errors import UsageError


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


def results_folder(made: Parser) -> None:
    """The option --results."""
    made.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="default: ./results")


def at_once(made: Parser) -> None:
    """The options that say how much is done at a time."""
    made.add_argument("-j", "--jobs", type=count, metavar="N", help="runs at a time; default: 1, or one for each GPU")
    made.add_argument("--gpus", type=numbers, default=(), metavar="0,1", help="GPUs to use, one run each at a time")
    made.add_argument("--runs-per-gpu", type=count, default=1, metavar="K", help="that many at a time; default: 1")


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


def device(text: str) -> str:
    """A device."""
    kind, colon, number = text.partition(":")
    if text in ("auto", "cpu", "cuda") or (kind == "cuda" and colon and number.isdecimal()):
        return text
    raise argparse.ArgumentTypeError(f"{text!r}: expected auto, cpu, cuda or cuda:N")


def positive(text: str) -> float:
    """A number of seconds, or of something else that has to be there."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0")
    return seconds


def data(text: str) -> Path:
    """A folder that is there."""
    path = Path(text).absolute()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: no such folder; expected one that holds, say, MNIST/raw")
    return path
