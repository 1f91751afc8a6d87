"""The entry point of the command line, which turns every error into one line and exit status 2."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from runner.errors import TrainbugsError, UsageError
from runner.files.untrusted import shown
from runner.progress.lines import discard
from runner.progress.streams import escaped_output, message
from trainbugs import interrupts
from trainbugs.cli.types import Formatter, Parser

# What `run --python` does without, and whatever needs it imports late.
OPTIONAL = ("uv", "pandas", "matplotlib", "numpy")
# What Python says where memory lacks for a thread, and the loader where it lacks for a library.
LACK_OF_MEMORY = ("can't start new thread", "failed to map segment")
# The subcommands by the module that has them.
COMMANDS = {
    "bugs": ("list", "info", "checkout", "new", "validate"),
    "run": ("run",),
    "study": ("study",),
    "figures": ("figures",),
    "results": ("results",),
    "environments": ("env", "versions", "why"),
    "detectors": ("detectors", "evaluate", "scores"),
    "watch": ("watch",),
    "site": ("site",),
    "export": ("export",),
    "completion": ("completion",),
}


class Version(argparse.Action):
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status.

    It is 0 if all is well, 1 if some case is NOT REPRODUCED, 2 for INVALID or an error, 130 after an interrupt.
    """
    _prepare()
    with escaped_output():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    # `status` becomes the exit status where the reader of the output goes away before the end.
    arguments = argparse.Namespace(status=0)
    try:
        status = _call(argv, arguments)
        sys.stdout.flush()
    except TrainbugsError as error:
        print(f"trainbugs: {message(str(error))}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        print(
            f"trainbugs: {error.name} is not installed; `pip install {' '.join(OPTIONAL)}` is enough",
            file=sys.stderr,
        )
        return 2
    except BrokenPipeError:
        discard(sys.stdout)
        return int(arguments.status)
    except (OSError, MemoryError, ImportError, RuntimeError) as error:
        about = _about(error)
        if about is None:
            raise
        discard(sys.stdout)
        print(f"trainbugs: {message(about)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "\ntrainbugs: interrupted; finished runs are kept, the same command goes on from there",
            file=sys.stderr,
        )
        return interrupts.STATUS
    return status


def parser(command: str = "") -> Parser:
    """The parser of the command line, of one subcommand or of all; `call` holds the function of each."""
    root = Parser(
        prog="trainbugs",
        description="Silent training bugs of PyTorch programs, reproduced for real.",
        epilog="examples:\n  trainbugs list\n  trainbugs run PyTorch-115607\n  trainbugs figures\n"
        '  eval "$(trainbugs completion bash)"      # names are completed, in this shell\n\n'
        "`trainbugs COMMAND --help` tells more.",
        formatter_class=Formatter,
    )
    root.add_argument("-V", "--version", action=Version, nargs=0, help="show the version and exit")
    subparsers = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module, names in COMMANDS.items():
        # All are there to be listed; one that is called needs no other.
        if command in names or not any(command in others for others in COMMANDS.values()):
            import_module(f"trainbugs.cli.{module}").add_commands(subparsers)
    return root


def _prepare() -> None:
    """Turn signals into KeyboardInterrupt, and make streams safe that are closed or can encode ASCII only."""
    interrupts.install()
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _about(error: Exception) -> str | None:
    """One line about what the system refuses: a file, or memory; None for any other error, a mistake of ours."""
    if isinstance(error, OSError):
        return _about_file(error)
    if isinstance(error, MemoryError) or any(words in str(error) for words in LACK_OF_MEMORY):
        return "there is not enough memory; see `ulimit -v`, and the limit of the batch job"
    return None


def _about_file(error: OSError) -> str:
    try:
        Path.cwd()
    except OSError:
        return "the working directory is not there any more; change to another one"
    words = error.strerror or str(error)
    if error.filename is None:
        return words
    advice = (
        "; expected what you may read and write, see its permissions"
        if isinstance(error, PermissionError)
        else ""
    )
    return f"{shown(Path(os.fsdecode(error.filename)))}: {words}{advice}"


def _call(argv: Sequence[str] | None, arguments: argparse.Namespace) -> int:
    words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        typed, unknown = parser(*words[:1]).parse_known_args(words)
    except SystemExit as done:  # --help, --version
        arguments.status = 0 if done.code is None else int(done.code)
        return int(arguments.status)
    if unknown:  # `parse_args` would point at the help of all commands
        raise UsageError(
            f"unrecognized arguments: {' '.join(unknown)}; `{typed.prog} --help` shows examples"
        )
    for name, value in vars(typed).items():
        setattr(arguments, name, value)
    return int(arguments.call(arguments))
