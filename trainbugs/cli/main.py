"""The entry point of the command line, which turns every error into one line and exit status 2."""

import argparse
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from runner.errors import TrainbugsError, UsageError
from runner.files.untrusted import shown
from runner.progress.lines import discard
from runner.progress.streams import escaped_output, message
from trainbugs import interrupts
from trainbugs.cli.exits import INVALID, SUCCESS, ExitStatus, ReaderLeftError
from trainbugs.cli.root_parser import build_parser

# What `run --python` does without, and whatever needs it imports late.
OPTIONAL = ("uv", "pandas", "matplotlib", "numpy")
# How many new objects there are before Python looks for unused ones, and how many such looks before
# it looks among older ones, and the oldest.
GARBAGE_THRESHOLDS = (20_000, 20, 100)
# How Python before 3.13 names a link that leads to itself.
LINKS = "Symlink loop from "
# What Python says where memory lacks for a thread, and the loader where it lacks for a library.
LACK_OF_MEMORY = ("can't start new thread", "failed to map segment")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status.

    It is 0 if all is well, 1 if some case is NOT REPRODUCED, 2 for INVALID or an error, 130 after
    an interrupt.
    """
    _prepare()
    with escaped_output():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> ExitStatus:
    try:
        return _run(argv)
    except TrainbugsError as error:
        print(f"trainbugs: {message(str(error))}", file=sys.stderr)
        return INVALID
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        print(
            f"trainbugs: {error.name} is not installed; `pip install {' '.join(OPTIONAL)}` is "
            "enough",
            file=sys.stderr,
        )
        return INVALID
    except (OSError, MemoryError, ImportError, RuntimeError) as error:
        line = _describe(error)
        if line is None:
            raise
        discard(sys.stdout)
        print(f"trainbugs: {message(line)}", file=sys.stderr)
        return INVALID
    except KeyboardInterrupt:
        print(
            "\ntrainbugs: interrupted; finished runs are kept, and the same command without "
            "--force goes on from there",
            file=sys.stderr,
        )
        return ExitStatus(interrupts.STATUS)


def _run(argv: Sequence[str] | None) -> ExitStatus:
    """Run what is typed; where the reader of the output goes away before the end,
    the status is what is known then.
    """
    status = SUCCESS
    try:
        typed = _parse(argv)
        if typed is not None:
            status = typed.unfinished
            status = typed.call(typed)
        sys.stdout.flush()
    except ReaderLeftError as error:
        discard(sys.stdout)
        return error.status
    except BrokenPipeError:
        discard(sys.stdout)
    return status


def _prepare() -> None:
    """Turn signals into KeyboardInterrupt, and make streams safe that are closed or can encode
    ASCII only.
    """
    interrupts.install()
    # A command reads many records and keeps them: looking through all of them again and again for
    # what is no longer used takes a tenth of the time of `scores`.
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _describe(error: Exception) -> str | None:
    """One line about what the system refuses: a file, or memory; None for any other error,
    a mistake of ours.
    """
    if isinstance(error, OSError):
        return _describe_file(error)
    if str(error).startswith(LINKS):
        return (
            f"{str(error).removeprefix(LINKS)}: links lead in a circle; expected a file or folder"
        )
    if isinstance(error, MemoryError) or any(words in str(error) for words in LACK_OF_MEMORY):
        return "there is not enough memory; see `ulimit -v`, and the limit of the batch job"
    return None


def _describe_file(error: OSError) -> str:
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


def _parse(argv: Sequence[str] | None) -> argparse.Namespace | None:
    """What is typed; None where the parser itself has done all, as with --help;
    raises UsageError.
    """
    words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        typed, unknown = build_parser(*words[:1]).parse_known_args(words)
    except SystemExit:
        # The parser ends a program only after --help or --version: mistakes are UsageError.
        return None
    if unknown:
        # `parse_args` would point at the help of all commands.
        raise UsageError(
            f"unrecognized arguments: {' '.join(unknown)}; `{typed.prog} --help` shows examples"
        )
    return typed
