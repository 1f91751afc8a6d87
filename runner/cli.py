"""The command line `trainbugs`: what a user types becomes a call; every error becomes one line and exit status 2."""

import argparse
import io
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from runner.errors import TrainbugsError, UsageError
from runner.progress import discard

INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """An argparse parser whose usage errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; `{self.prog} --help` shows examples")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status: 0 all well, 1 some NOT REPRODUCED, 2 some INVALID or an error."""
    _prepare()
    # `status` is what counts where a reader of the output goes away before the end.
    arguments = argparse.Namespace(status=0)
    try:
        status = _call(argv, arguments)
        sys.stdout.flush()
    except TrainbugsError as error:
        print(f"trainbugs: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        discard(sys.stdout)
        return int(arguments.status)
    except OSError as error:
        discard(sys.stdout)
        print(f"trainbugs: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ntrainbugs: interrupted; finished runs are kept, the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    return status


def _prepare() -> None:
    """Make signals and streams of any kind safe: closed ones, ones that know ASCII only, signals to be ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup's wish
            signal.signal(number, _interrupt)
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _call(argv: Sequence[str] | None, arguments: argparse.Namespace) -> int:
    try:
        for name, value in vars(parser().parse_args(argv)).items():
            setattr(arguments, name, value)
    except SystemExit as done:  # --help
        arguments.status = 0 if done.code is None else int(done.code)
        return int(arguments.status)
    return int(arguments.call(arguments))


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def parser() -> Parser:
    """The whole command line; `call` holds the function of runner.commands behind each subcommand."""
    root = Parser(
        prog="trainbugs",
        description="Silent training bugs of PyTorch programs, reproduced for real.",
        epilog="examples:\n  trainbugs list\n  trainbugs run PyTorch-115607\n  trainbugs figures\n\n"
        "`trainbugs COMMAND --help` tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _list_and_info(commands)
    _run(commands)
    _figures_and_results(commands)
    _checkout_and_validate(commands)
    _env(commands)
    return root


Commands = argparse._SubParsersAction  # argparse has no public name for it


def _add(commands: "Commands[Parser]", name: str, text: str, examples: Sequence[str]) -> Parser:
    from runner import commands as calls

    made = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  trainbugs {example}" for example in examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.set_defaults(call=getattr(calls, f"{name}_command"))
    return made


def _list_and_info(commands: "Commands[Parser]") -> None:
    made = _add(commands, "list", "show all bugs and their cases", ["list", "list --json"])
    made.add_argument("--json", action="store_true", help="as JSON")
    made = _add(commands, "info", "show what is known of a bug", ["info SO-60335387", "info SO-60335387 --json"])
    made.add_argument("bug", metavar="BUG", help="ID of a bug, or a bug directory")
    made.add_argument("--json", action="store_true", help="as JSON")


def _run(commands: "Commands[Parser]") -> None:
    made = _add(
        commands,
        "run",
        "run bugs and judge whether they reproduce",
        [
            "run PyTorch-115607",
            "run SO-60335387/digits --seeds 0 --figures",
            "run SO-60335387/lr1e-4 --data /path/to/folder   # that holds MNIST/raw",
            "run PyTorch-115607/simple --python ~/venv/bin/python --device cuda",
        ],
    )
    made.set_defaults(status=2)
    made.add_argument("targets", nargs="+", metavar="BUG[/CASE[/VARIANT]]", help="what to run; also a bug directory")
    made.add_argument("--seeds", type=_seeds, help="comma-separated, e.g. 0,1,2; default: those of the bug")
    made.add_argument("--device", type=_device, default="auto", help="auto, cpu, cuda or cuda:N; default: auto")
    made.add_argument("--python", type=Path, metavar="PATH", help="an interpreter of your own, not the pinned one")
    made.add_argument("--environment", metavar="NAME", help="another pinned environment than the bug's")
    made.add_argument("--data", type=_data, metavar="DIR", help="folder of data sets; default: $TRAINBUGS_DATA")
    made.add_argument("--timeout", type=_positive, metavar="SECONDS", help="for each run; default: that of the bug")
    made.add_argument("--force", action="store_true", help="run again what has been run before")
    made.add_argument("--figures", action="store_true", help="draw the figures of what was run")
    made.add_argument("--update-expected", action="store_true", help="keep the records as the bug's expected ones")
    made.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="of figures; default: ./figures")
    _results_folder(made)


def _figures_and_results(commands: "Commands[Parser]") -> None:
    made = _add(
        commands,
        "figures",
        "draw the figures of bugs from their records",
        ["figures", "figures SO-60335387 --from results --format pdf"],
    )
    made.add_argument("bugs", nargs="*", metavar="BUG", help="default: all")
    made.add_argument(
        "--from", dest="source", choices=("expected", "results"), default="expected", help="whose records"
    )
    made.add_argument("--format", choices=("png", "pdf", "svg"), default="png", help="default: png")
    made.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="default: ./figures")
    _results_folder(made)
    made = _add(commands, "results", "show run records as a table", ["results", "results --csv all.csv SO-60335387"])
    made.add_argument("bugs", nargs="*", metavar="BUG", help="default: all")
    made.add_argument("--csv", metavar="FILE", help="write every record as a row of a CSV file; - for standard output")
    _results_folder(made)


def _checkout_and_validate(commands: "Commands[Parser]") -> None:
    made = _add(
        commands,
        "checkout",
        "make a working copy of a bug that runs by hand",
        ["checkout SO-60335387 copy", "checkout SO-60335387/digits copy --blind"],
    )
    made.add_argument("target", metavar="BUG[/CASE[/VARIANT]]", help="what to copy")
    made.add_argument("directory", type=Path, metavar="DIR", help="a new directory")
    made.add_argument("--blind", action="store_true", help="neutral names, nothing that tells which variant is buggy")
    made = _add(
        commands,
        "validate",
        "check that bug directories are well formed",
        ["validate", "validate SO-60335387", "validate my/own/bug"],
    )
    made.add_argument("bugs", nargs="*", metavar="BUG|DIR", help="default: all")


def _env(commands: "Commands[Parser]") -> None:
    made = _add(
        commands,
        "env",
        "list, build, check or remove the environments of the bugs",
        ["env list", "env build torch-2.2.2", "env build torch-2.2.2 --torch-backend cpu", "env remove torch-2.2.2"],
    )
    made.add_argument("action", choices=("list", "build", "check", "remove"))
    made.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    made.add_argument("--torch-backend", metavar="NAME", help="build: uv's option, e.g. cpu: smaller, not hashed")
    made.add_argument("--force", action="store_true", help="build: anew, even if it is there")


def _results_folder(made: Parser) -> None:
    made.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="default: ./results")


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(int(part) for part in text.split(","))
    except ValueError:
        seeds = ()
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise argparse.ArgumentTypeError(f"{text!r}: expected different numbers >= 0, separated by commas, like 0,1,2")
    return seeds


def _device(text: str) -> str:
    kind, colon, number = text.partition(":")
    if text in ("auto", "cpu", "cuda") or (kind == "cuda" and colon and number.isdecimal()):
        return text
    raise argparse.ArgumentTypeError(f"{text!r}: expected auto, cpu, cuda or cuda:N")


def _positive(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of seconds above 0")
    return seconds


def _data(text: str) -> Path:
    path = Path(text).absolute()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: no such folder; expected one that holds, say, MNIST/raw")
    return path
