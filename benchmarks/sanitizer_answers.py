"""What the sanitizer says of the programs of an export: from its records, or by running them.

A program is known by the digest of its text and parameters, which records have too: no key is read.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.keys import program_digest
from evaluation.model import ARGUMENTS, SCRIPT
from evaluation.reading.load import earlier_folder, load_committed, load_results
from evaluation.records import CheckRecord
from evaluation.store.committed import CommittedChecks
from runner.bugs.program import UPSTREAM
from runner.environments import spec

ROOT = Path(__file__).resolve().parent.parent
ERROR = "error"


class Alarm(NamedTuple):
    """An error that was seen: the invariant, and the place that it names."""

    code: str
    file: str | None
    line: int | None
    message: str
    api: str | None


Alarms = Sequence[Alarm]


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where answers come from."""
    parser.add_argument("--detector", default="sanitizer", help="default: sanitizer")
    parser.add_argument("--results", type=Path, help="a folder of `trainbugs evaluate`")
    parser.add_argument("--committed", action="store_true", help="read the committed records")
    parser.add_argument("--watch", action="store_true", help="run what has no record")


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of an export."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def alarms_of(tasks: Sequence[dict[str, Any]], options: argparse.Namespace) -> dict[str, Alarms]:
    """The errors that were seen in each task's program; a program that was not seen is not in it."""
    recorded = _recorded(options)
    known = {task["id"]: (digest_of(task), task["packages"]["torch"]) for task in tasks}
    alarms = {name: recorded[program] for name, program in known.items() if program in recorded}
    if options.watch:
        for task in tasks:
            if task["id"] not in alarms:
                seen = watch(task)
                alarms |= {} if seen is None else {task["id"]: seen}
    return alarms


def digest_of(task: dict[str, Any]) -> str:
    """The digest by which records know the program of a task."""
    files = {name: text.encode() for name, text in task["files"].items()}
    return program_digest(files, task["parameters"])


def _recorded(options: argparse.Namespace) -> dict[tuple[str, str], Alarms]:
    """The errors by the digests of programs and the versions of torch, from the records that were
    asked for.

    Where a release mends a bug, one text has records of it with both releases: those of the good
    one are left out.
    """
    checks: list[CheckRecord] = []
    if options.committed:
        # The row of the page about reviews is of an earlier kit.
        earlier = CommittedChecks(earlier_folder(ROOT)).read([options.detector])
        checks += earlier.checks or load_committed(ROOT, [options.detector]).checks
    if options.results:
        checks += load_results(options.results, [options.detector]).checks
    return {
        (check.program, (check.runtime.torch or "").partition("+")[0]): _errors(check)
        for check in checks
        if check.program and check.status == "ok" and check.kind != UPSTREAM
    }


def _errors(check: CheckRecord) -> Alarms:
    return [
        Alarm(alarm.code, alarm.file, alarm.line, alarm.message, alarm.api)
        for alarm in check.alarms
        if alarm.severity == ERROR
    ]


def watch(task: dict[str, Any]) -> Alarms | None:
    """The errors that `trainbugs watch` sees in a program; None where it saw no step."""
    python = interpreter(task["python"], task["packages"])
    if python is None:
        print(f"{task['id']}: no environment of its packages is built", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name, text in task["files"].items():
            Path(folder, name).write_text(text, encoding="utf-8")
        parameters = json.dumps({"parameters": task["parameters"]})
        Path(folder, "config.json").write_text(parameters, encoding="utf-8")
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "trainbugs", "watch", "--json", report, "--python", python]
        done = subprocess.run(
            [*map(str, command), SCRIPT, *ARGUMENTS], cwd=folder, capture_output=True, check=False
        )
        if not report.exists():
            print(f"{task['id']}: {done.stderr.decode()[-200:]}", file=sys.stderr)
            return None
        document = json.loads(report.read_text(encoding="utf-8"))
    if document["answer"] not in ("broken", "kept"):
        return None
    findings = [item for item in document["findings"] if item["severity"] == ERROR]
    return [
        Alarm(item["invariant"], item["file"], item["line"], item["message"], item["api"])
        for item in findings
    ]


def interpreter(python: str, packages: dict[str, str]) -> Path | None:
    """The interpreter of the first built environment that has these versions."""
    for name in spec.names(ROOT):
        environment = spec.load(ROOT, name)
        if environment.python == python and packages.items() <= environment.pins.items():
            built = spec.find(environment)
            if built is not None:
                return built.python
    return None
