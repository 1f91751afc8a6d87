"""The subcommand watch: runs a program of the user's own under the sanitizer,
and says what it saw.
"""

import signal
import sys
from argparse import REMAINDER, BooleanOptionalAction
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import ResultsError, UsageError
from runner.files.atomic import is_special
from runner.files.schema_errors import near
from runner.files.untrusted import shown
from runner.progress.streams import one_line
from trainbugs import api
from trainbugs.cli.exits import FAILURE, INVALID, NOTHING_WATCHED, SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command
from trainbugs.cli.terminal import show_noted

if TYPE_CHECKING:
    from evaluation.watching.document import WatchDocument
    from evaluation.watching.invariants import Invariant
    from evaluation.watching.program import Watched
    from evaluation.watching.report import WatchedAlarm, WatchReport
    from evaluation.watching.silencing import Mark, Silencing

HELP = Help(
    "run a training script of your own, and say which invariants of training it breaks",
    [
        "watch train.py --epochs 3              # the script gets what follows its name",
        "watch --ignore stale-gradients train.py",
        "watch -m my_package.train",
        "watch --list",
    ],
)
SANITIZER = Path("detectors", "sanitizer")
SCRIPT = "SCRIPT.py"
IN_A_NOTEBOOK = "convert it, `jupyter nbconvert --to script`, and watch the script"
OTHER_PROGRAMS = (
    "programs that it starts are not seen; under torchrun watch each of them: "
    "`torchrun --no-python trainbugs watch train.py`"
)


@dataclass(frozen=True)
class WatchOptions:
    """The options of `trainbugs watch`; `command` is the script with its arguments."""

    python: Path | None
    module: bool
    ignore: tuple[str, ...]
    light: bool
    info: bool
    json: Path | None
    sarif: Path | None
    junit: Path | None
    baseline: Path | None
    write_baseline: bool
    wheel: Path | None
    list: bool
    command: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The script and its arguments, without a -- before them."""
        return self.command[1:] if self.command[:1] == ("--",) else self.command

    @property
    def outputs(self) -> dict[str, Path]:
        """The files to write, by the names of their formats."""
        paths = {"json": self.json, "sarif": self.sarif, "junit": self.junit}
        if self.write_baseline:
            paths["baseline"] = self.baseline
        return {name: path for name, path in paths.items() if path is not None}

    @property
    def is_notebook(self) -> bool:
        """Whether the script is a notebook, which Python cannot run."""
        return not self.module and Path(self.words[0]).suffix == ".ipynb"

    def check(self, invariants: Sequence[str]) -> None:
        """Raise UsageError unless there is a script to run, and all that is named exists."""
        if not self.words:
            raise UsageError("name the script to run; `trainbugs watch --help` shows examples")
        if not self.module and not Path(self.words[0]).is_file():
            raise UsageError(f"{self.words[0]}: there is no such script")
        for name in self.ignore:
            if name not in invariants:
                raise UsageError(
                    f"there is no invariant {name!r}{near(name, invariants)}; `trainbugs watch "
                    "--list` shows all"
                )
        if self.write_baseline and self.baseline is None:
            raise UsageError("--write-baseline needs the name of the file: --baseline FILE")
        self._check_outputs()

    def _check_outputs(self) -> None:
        """Raise UsageError where a file cannot be written, or would replace another one, or the
        script.
        """
        names: dict[Path, str] = {}
        for name, path in self.outputs.items():
            if str(path) == "-":
                raise UsageError(
                    f"--{name} -: expected the name of a file; standard output is the script's"
                )
            if not _can_be_written(path):
                raise UsageError(
                    f"--{name} {path}: expected the name of a file, in a folder that is there"
                )
            other = names.setdefault(path.resolve(), name)
            if other != name:
                raise UsageError(f"--{other} and --{name} name one file, {path}; expected two")
        script = None if self.module else Path(self.words[0]).resolve()
        if script in names:
            raise UsageError(
                f"--{names[script]} names the script, {self.words[0]}; expected another file"
            )


def _can_be_written(path: Path) -> bool:
    is_taken = path.is_dir() or is_special(path)
    return path.absolute().parent.is_dir() and not is_taken


def add_arguments(subparsers: Subparsers) -> None:
    """Add watch."""
    parser = add_command(subparsers, "watch", watch_program, WatchOptions, HELP)
    parser.usage = f"trainbugs watch [options] {SCRIPT} [ARGUMENT ...]"
    # The script's own options are no abbreviations of these.
    parser.allow_abbrev = False
    parser.add_argument(
        "--python",
        type=Path,
        metavar="PATH",
        help="interpreter of your script; default: python3 with torch, else the one of trainbugs",
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="run a module, as `python -m` does"
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="INVARIANT",
        help="silence this invariant; repeat it for more",
    )
    parser.add_argument(
        "--light", action="store_true", help="leave out what copies or computes much"
    )
    parser.add_argument(
        "--info",
        action=BooleanOptionalAction,
        default=True,
        help="show or hide advice, which never counts; default: show",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the whole report to a file"
    )
    parser.add_argument(
        "--sarif", type=Path, metavar="FILE", help="write it as SARIF 2.1.0, for code scanning"
    )
    parser.add_argument(
        "--junit",
        type=Path,
        metavar="FILE",
        help="write it as JUnit XML, with a test for each invariant",
    )
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="pass over the findings in this file"
    )
    parser.add_argument(
        "--write-baseline",
        action="store_true",
        help="write all findings to the --baseline file; they do not count in this run",
    )
    parser.add_argument(
        "--wheel", type=Path, metavar="DIR", help="write the small wheel there, and run nothing"
    )
    parser.add_argument("--list", action="store_true", help="show the invariants, and run nothing")
    parser.add_argument(
        "command", nargs=REMAINDER, metavar=SCRIPT, help="your script, and its arguments"
    )


def watch_program(options: WatchOptions) -> ExitStatus:
    """Run a program; its own status, or where it ends well: FAILURE if an error was seen,
    NOTHING_WATCHED if it did no step or left no report, else SUCCESS.
    """
    from evaluation.watching import program
    from evaluation.watching.document import describe
    from evaluation.watching.silencing import Silencing

    if options.wheel:
        return _write_wheel(options.wheel)
    sanitizer_invariants = watched_invariants()
    if options.list:
        _print_invariants(sanitizer_invariants)
        return SUCCESS
    options.check([invariant.name for invariant in sanitizer_invariants])
    if options.is_notebook:
        _say(f"nothing was watched: {options.words[0]} is a notebook; {IN_A_NOTEBOOK}")
        return NOTHING_WATCHED
    marks = _baseline(options)
    watched = _watched(options)
    returned, report = program.run(watched)
    status = 128 - returned if returned < 0 else returned
    if report is None:
        _say(f"{_end_of_program(returned)}: nothing is known of what was seen")
    if program.is_told_elsewhere(report):
        # The first rank writes the files, too: they are the same for all ranks. A rank that failed
        # would end it.
        return ExitStatus(status)
    silencing, is_baseline_written = None, True
    if report:
        found = Silencing(report, watched.folder, marks)
        silencing, is_baseline_written = _with_new_baseline(options, found)
        # Before anything is written: what was seen in hours of training is told in any case.
        _print_report(silencing, watched, options.info, ended_well=status == SUCCESS)
        _print_hints(silencing, watched, sanitizer_invariants)
    document = describe(watched, status, silencing, sanitizer_invariants)
    are_written = _write(options, document)
    if not (are_written and is_baseline_written) and status == SUCCESS:
        return INVALID
    return _exit_status(status, silencing.audible if silencing else None)


def _write_wheel(folder: Path) -> ExitStatus:
    """Write what watches inside of a program, for an environment that has torch."""
    from evaluation.watching import small_wheel

    try:
        path = small_wheel.build(folder, api.load().root / SANITIZER)
    except OSError as error:
        raise UsageError(
            f"--wheel {shown(folder)}: cannot be written: {error.strerror}; expected a folder"
        ) from error
    print(f"pip install {shown(path)}")
    return SUCCESS


def _baseline(options: WatchOptions) -> "frozenset[Mark]":
    """What the baseline file holds; nothing where it is to be written."""
    from evaluation.watching.baseline import read

    if options.baseline is None or options.write_baseline:
        return frozenset()
    return read(options.baseline)


def _with_new_baseline(options: WatchOptions, silencing: "Silencing") -> tuple["Silencing", bool]:
    """Where it is asked for, write all that was found into the baseline, which silences it; and
    whether that was written. What cannot be written silences nothing.

    A program that did no step says nothing: its baseline stays as it was.
    """
    from evaluation.watching import baseline

    if options.baseline is None or not options.write_baseline or silencing.report.is_empty:
        return silencing, True
    marks = silencing.marks()
    try:
        baseline.write(options.baseline, marks)
    except ResultsError as error:
        _say(str(error))
        return silencing, False
    return replace(silencing, baseline=frozenset(marks)), True


def watched_invariants() -> "Sequence[Invariant]":
    """The invariants of the sanitizer that watches."""
    from evaluation.watching.invariants import read

    return read(api.load().root / SANITIZER)


def _exit_status(status: int, report: "WatchReport | None") -> ExitStatus:
    """The program's own status if that is not 0, else what the report says."""
    if status != SUCCESS:
        return ExitStatus(status)
    if report is None or report.is_empty:
        return NOTHING_WATCHED
    return FAILURE if report.has_error else SUCCESS


def _print_invariants(invariants: "Sequence[Invariant]") -> None:
    rows = [
        (invariant.name, invariant.severity, "yes" if invariant.light else "no")
        for invariant in invariants
    ]
    statements = [invariant.statement for invariant in invariants]
    show_noted([("INVARIANT", "SEVERITY", "LIGHT"), *rows], statements, sys.stdout)


def _watched(options: WatchOptions) -> "Watched":
    """The program with the interpreter and the settings of the sanitizer;
    raises UsageError without torch.
    """
    from evaluation.watching.interpreter import choose
    from evaluation.watching.program import Watched

    script, *arguments = options.words
    return Watched(
        python=choose(options.python),
        script=script,
        arguments=arguments,
        module=options.module,
        sanitizer=api.load().root / SANITIZER,
        ignore=options.ignore,
        light=options.light,
    )


def _print_report(
    silencing: "Silencing", watched: "Watched", with_advice: bool, ended_well: bool
) -> None:
    """Print what was seen, on standard error: the other stream is the script's."""
    from evaluation.watching.wording import summary

    report = silencing.audible
    _say(summary(silencing, watched.ignore))
    _print_table(report.broken, watched)
    if with_advice and report.advice:
        _say("advice, for what it names may be meant:")
        _print_table(report.advice, watched)
    if report.is_empty and ended_well:
        _say(OTHER_PROGRAMS)
    if report.dropped:
        _say(f"{report.dropped} more alarms were not kept")
    for failure in report.failures:
        _say(f"a fault of the sanitizer: {one_line(failure.strip())}")


def _print_hints(
    silencing: "Silencing", watched: "Watched", invariants: "Sequence[Invariant]"
) -> None:
    """Print a line for each comment that names no invariant, or one that there is not."""
    from evaluation.watching.wording import hints

    known = [invariant.name for invariant in invariants]
    for hint in hints(silencing, known, None if watched.module else watched.script):
        _say(hint)


def _print_table(alarms: "Sequence[WatchedAlarm]", watched: "Watched") -> None:
    from evaluation.watching.wording import HEADING, entries

    if not alarms:
        return
    rows, texts = [], []
    for entry in entries(alarms, watched.folder):
        rows.append(tuple(map(one_line, entry.row)))
        texts.append(one_line(entry.text))
    show_noted([HEADING, *rows], texts, sys.stderr)


def _end_of_program(returned: int) -> str:
    """How a program ended that left no report."""
    if returned == SUCCESS:
        return "the program ended before the report (os._exit?)"
    if returned > SUCCESS:
        return f"the program ended with status {returned}, without a report"
    return f"the program was ended by {_signal_name(-returned)}, without a report"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _write(options: WatchOptions, document: "WatchDocument") -> bool:
    """Write the files that were asked for; one that cannot be written keeps no other from it.

    Returns whether all are written, and says which one is not.
    """
    from evaluation.watching.document import json_text
    from evaluation.watching.junit import junit_text
    from evaluation.watching.sarif import sarif_text
    from runner.files.atomic import write_text

    failures: list[str] = []
    invariants = watched_invariants()
    writers = {"json": json_text, "sarif": sarif_text, "junit": junit_text}
    for name, path in options.outputs.items():
        if name not in writers:  # the baseline
            continue
        try:
            write_text(path, writers[name](document, invariants))
        except ResultsError as error:
            failures.append(str(error))
        else:
            _say(f"the report is in {shown(path)}")
    for failure in failures:
        _say(failure)
    return not failures


def _say(text: str) -> None:
    print(f"trainbugs watch: {one_line(text)}", file=sys.stderr)
