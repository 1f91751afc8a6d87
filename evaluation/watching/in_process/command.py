"""`python -m trainbugs_watch SCRIPT.py [ARGUMENT ...]`: runs a script in this process, watched.

The exit status is the script's own; where that is 0, it is 1 if an error was seen, and 3 if nothing
was watched.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.watching.in_process.start import hide_from_tracebacks
from evaluation.watching.in_process.watching import Watching

FAILURE, USAGE, NOTHING_WATCHED = 1, 2, 3
NOTEBOOK = (
    "nothing was watched: {} is a notebook; convert it, `jupyter nbconvert --to script`, and watch "
    "the script"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script; ends the process with its status, or that of what was seen."""
    options = _parser().parse_args(arguments)
    if not options.module and not Path(options.script).is_file():
        print(f"trainbugs: {options.script}: there is no such script", file=sys.stderr)
        sys.exit(USAGE)
    if not options.module and Path(options.script).suffix == ".ipynb":
        print(f"trainbugs: {NOTEBOOK.format(options.script)}", file=sys.stderr)
        sys.exit(NOTHING_WATCHED)
    watched = Watching(options.ignore, options.light, silencer="--ignore {}")
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = str(Path.cwd() if options.module else Path(options.script).resolve().parent)
    try:
        watched.start()
    except ValueError as error:
        print(f"trainbugs: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        print(f"trainbugs: {sys.executable} has no torch; install it there", file=sys.stderr)
        sys.exit(USAGE)
    try:
        if options.module:
            runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        else:
            # Python gives a script the whole of its path, by which it may find its files.
            runpy.run_path(str(Path(options.script).absolute()), run_name="__main__")
    except BaseException:
        hide_from_tracebacks()
        raise
    finally:
        watched.stop(raises=False)
    sys.exit(_status(watched))


def _status(watched: Watching) -> int:
    """The exit status of a script that has ended well."""
    report = watched.audible
    if report is None or report.told_elsewhere:
        return 0
    if report.has_error:
        return FAILURE
    return NOTHING_WATCHED if report.is_empty else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m trainbugs_watch", description="Watch a training script for silent bugs."
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="INVARIANT", help="leave one out"
    )
    parser.add_argument("--light", action="store_true", help="leave out what copies much")
    parser.add_argument("script", metavar="SCRIPT.py")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser
