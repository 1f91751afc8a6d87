"""Runs a program of the user's own under the sanitizer, in the user's own place."""

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.watching.in_process import start
from evaluation.watching.interpreter import WatchedInterpreter
from evaluation.watching.report import WatchReport, read
from runner.sandbox import process

# What monitor.py of the sanitizer takes its settings from.
SETTINGS = "TRAINBUGS_SANITIZER"
# By it the launcher knows which process has started the ranks; ranks.py of it has the name, too.
AGENT = "TRAINBUGS_AGENT"


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A script, or the name of a module, with its arguments; which interpreter runs it,
    and who looks.
    """

    python: WatchedInterpreter
    script: str
    arguments: Sequence[str]
    module: bool = False
    sanitizer: Path
    ignore: Sequence[str] = ()
    light: bool = False

    @property
    def folder(self) -> str:
        """The folder that the report's files lie in,
        from the working directory if that is above it.
        """
        working = Path.cwd()
        folder = working if self.module else Path(self.script).resolve().parent
        return str(folder.relative_to(working) if folder.is_relative_to(working) else folder)


def is_told_elsewhere(report: WatchReport | None) -> bool:
    """Whether another rank of torchrun tells of this program, too: the first one of this machine.

    Reports pass through a folder of the machine. So LOCAL_RANK decides, and not RANK: the first
    rank of all knows nothing of other machines.
    """
    if report is not None:
        return report.told_elsewhere
    return os.environ.get("LOCAL_RANK", "0") != "0"


def run(watched: Watched) -> tuple[int, WatchReport | None]:
    """Run the program to its end; returns its exit status, negative for a signal,
    and the report if there is one.

    Its streams, working directory and environment variables are those of this process. Raises
    ProcessError where the interpreter cannot be started.
    """
    settings = {"ignore": list(watched.ignore), "light": watched.light}
    with tempfile.TemporaryDirectory(prefix="trainbugs-", ignore_cleanup_errors=True) as folder:
        out = Path(folder, "report.json")
        launched = [
            watched.python.path,
            start.__file__,
            out,
            "--monitor",
            watched.sanitizer / "monitor.py",
        ]
        options = ["--module"] if watched.module else []
        # After `--` nothing is taken for an option of the launcher.
        command = [*map(str, launched), *options, "--", watched.script, *watched.arguments]
        # Ranks know each other by the process that has started them, and not by this one.
        variables = {SETTINGS: json.dumps(settings), AGENT: str(os.getppid())}
        status = process.foreground(command, env={**os.environ, **variables})
        return status, read(out)
