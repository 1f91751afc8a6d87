"""The subcommand watch: runs a program of the user's own under the sanitizer, and says what it saw."""

import signal
import sys
from argparse import REMAINDER, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from runner.files.structs import near
from runner.files.untrusted import shown
from runner.progress.streams import one_line
from trainbugs import api
from trainbugs.cli.terminal import show_noted
from trainbugs.cli.types import Commands, add

if TYPE_CHECKING:
    from evaluation.watching.program import Watched
    from evaluation.watching.report import Report

SANITIZER = Path("detectors", "sanitizer")
SCRIPT = "SCRIPT.py"


def add_commands(to: Commands) -> None:
    """Add watch."""
    examples = [
        "watch train.py --epochs 3              # what stands behind the script is the script's",
        "watch --ignore stale-gradients train.py",
        "watch -m my_package.train",
        "watch --list",
    ]
    text = "run a training script of your own, and say which invariants of training it breaks"
    parser = add(to, "watch", watch_command, text, examples)
    parser.usage = f"trainbugs watch [options] {SCRIPT} [ARGUMENT ...]"
    # The script's own options are no abbreviations of these.
    parser.allow_abbrev = False
    parser.add_argument(
        "--python",
        type=Path,
        metavar="PATH",
        help="default: python3 if it has torch, else that of trainbugs",
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="run a module, as `python -m` does"
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="INVARIANT",
        help="silence one; several times for more",
    )
    parser.add_argument(
        "--light", action="store_true", help="leave out what copies or computes much"
    )
    parser.add_argument("--info", action="store_true", help="show advice too")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the whole report to a file"
    )
    parser.add_argument("--list", action="store_true", help="show the invariants, and run nothing")
    parser.add_argument("command", nargs=REMAINDER, metavar=SCRIPT, help="with its arguments")


def watch_command(arguments: Namespace) -> int:
    """Run a program; its own status, or 1 where it ends well and an error was seen, else 0."""
    from evaluation.watching import invariants, program

    known = invariants.read(api.load().root / SANITIZER)
    if arguments.list:
        rows = [(each.name, each.severity, "yes" if each.light else "no") for each in known]
        show_noted(
            [("INVARIANT", "SEVERITY", "LIGHT"), *rows],
            [each.statement for each in known],
            sys.stdout,
        )
        return 0
    watched = _watched(arguments, [each.name for each in known])
    returned, report = program.run(watched)
    status = 128 - returned if returned < 0 else returned
    if report is None:
        _say(f"{_ended(returned)}, without a report: nothing is known of what was seen")
    else:
        _show(report, watched, arguments.info)
    if arguments.json:
        _write(arguments.json, watched, status, report)
    return status or int(report is not None and report.has_error)


def _watched(arguments: Namespace, known: Sequence[str]) -> "Watched":
    """What is to be run; raises UsageError before anything is."""
    from evaluation.watching.interpreter import choose
    from evaluation.watching.program import Watched

    words = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not words:
        raise UsageError("name the script to run; `trainbugs watch --help` shows examples")
    if not arguments.module and not Path(words[0]).is_file():
        raise UsageError(f"{words[0]}: there is no such script")
    for name in arguments.ignore:
        if name not in known:
            raise UsageError(
                f"there is no invariant {name!r}{near(name, known)}; `trainbugs watch --list` shows all"
            )
    if arguments.json and not (
        arguments.json.absolute().parent.is_dir() and not arguments.json.is_dir()
    ):
        raise UsageError(
            f"--json {arguments.json}: expected the name of a file, in a folder that is there"
        )
    return Watched(
        python=choose(arguments.python),
        script=words[0],
        arguments=words[1:],
        module=arguments.module,
        sanitizer=api.load().root / SANITIZER,
        ignore=arguments.ignore,
        light=arguments.light,
    )


def _show(report: "Report", watched: "Watched", with_advice: bool) -> None:
    """Print what was seen, on standard error: the other stream is the script's."""
    from evaluation.watching.report import HEADING, findings, summary

    _say(summary(report, watched.ignore))
    alarms = [*report.broken, *(report.advice if with_advice else [])]
    if alarms:
        found = findings(alarms, _folder(watched))
        rows = [tuple(one_line(cell) for cell in each.row) for each in found]
        show_noted([HEADING, *rows], [one_line(each.text) for each in found], sys.stderr)
    if report.dropped:
        _say(f"{report.dropped} more alarms were not kept")
    if report.advice and not with_advice:
        _say("there is advice, too: --info shows it")
    for failure in report.failures:
        _say(f"a fault of the sanitizer: {one_line(failure.strip())}")


def _folder(watched: "Watched") -> str:
    """The folder that the report's files lie in, from the working directory if that is above it."""
    here = Path.cwd()
    folder = here if watched.module else Path(watched.script).resolve().parent
    return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)


def _ended(returned: int) -> str:
    if returned >= 0:
        return f"the program ended with status {returned}"
    return f"the program was ended by {signal.Signals(-returned).name}"


def _write(path: Path, watched: "Watched", status: int, report: "Report | None") -> None:
    from msgspec import to_builtins

    from runner.files.atomic import write_json

    run = {
        "script": watched.script,
        "arguments": list(watched.arguments),
        "python": watched.python,
        "status": status,
    }
    write_json(path, {**run, "report": to_builtins(report)})
    _say(f"the report is in {shown(path)}")


def _say(text: str) -> None:
    print(f"trainbugs watch: {one_line(text)}", file=sys.stderr)
