"""The JSON document of a watched program, which other programs read;
SARIF and JUnit are made from it.
"""

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from evaluation.watching.cures import cure_of
from evaluation.watching.invariants import Invariant
from evaluation.watching.program import Watched
from evaluation.watching.report import Severity, WatchedAlarm, WatchReport
from evaluation.watching.silencing import Reason, Silencing

Answer = Literal["broken", "kept", "nothing watched", "unknown"]


class WatchFinding(msgspec.Struct, frozen=True):
    """A broken invariant at one place. `severity` is `info` for advice, which never counts.

    `file` is told from the working directory, or absolute where it lies elsewhere; file and line
    are null where no line of the program was being run. `iteration` counts from 1. `silenced` says
    what silences it: a comment in its line, or the baseline file.
    """

    invariant: str
    severity: Severity
    message: str
    cure: str | None
    file: str | None
    line: int | None
    api: str | None
    parameter: str | None
    iteration: int
    silenced: Reason | None


class WatchDocument(msgspec.Struct, frozen=True):
    """A program under `trainbugs watch`.

    `answer` is `broken` where an error or a warning was seen and not silenced, `kept` where
    none was, `nothing watched` without a step of an optimizer, and `unknown` without a report:
    the program was killed, or ended by `os._exit`. `status` is the program's own exit status.
    `watched` names the invariants that were looked at, `ignored` those that were not to be.
    `findings` has the first alarm at each place, `report` all of them.
    """

    schema: Literal[1]
    trainbugs: str
    script: str
    arguments: tuple[str, ...]
    module: bool
    python: str
    torch: str
    status: Annotated[int, msgspec.Meta(ge=0)]
    answer: Answer
    watched: tuple[str, ...]
    ignored: tuple[str, ...]
    findings: tuple[WatchFinding, ...]
    report: WatchReport | None


def describe(
    watched: Watched, status: int, silencing: Silencing | None, invariants: Sequence[Invariant]
) -> WatchDocument:
    """The document of a program that has ended."""
    names = [
        invariant.name
        for invariant in invariants
        if invariant.name not in watched.ignore and (invariant.light or not watched.light)
    ]
    report = silencing.report if silencing else None
    return WatchDocument(
        schema=1,
        trainbugs=version("trainbugs"),
        script=watched.script,
        arguments=tuple(watched.arguments),
        module=watched.module,
        python=watched.python.path,
        torch=watched.python.torch,
        status=status,
        answer=_answer(silencing),
        watched=tuple(names),
        ignored=tuple(watched.ignore),
        findings=tuple(_findings(silencing)) if silencing else (),
        report=report,
    )


def json_text(document: WatchDocument, invariants: Sequence[Invariant]) -> str:
    """The document as it is written."""
    return json.dumps(msgspec.to_builtins(document), indent=1) + "\n"


def _answer(silencing: Silencing | None) -> Answer:
    if silencing is None:
        return "unknown"
    report = silencing.audible
    if report.broken:
        return "broken"
    return "nothing watched" if report.is_empty else "kept"


def _findings(silencing: Silencing) -> Iterator[WatchFinding]:
    for alarm in [*silencing.report.broken, *silencing.report.advice]:
        yield _finding(alarm, silencing.folder, silencing.reason(alarm))


def _finding(alarm: WatchedAlarm, folder: str, silenced: Reason | None) -> WatchFinding:
    return WatchFinding(
        invariant=alarm.code,
        severity=alarm.severity,
        message=alarm.message,
        cure=cure_of(alarm.code, alarm.message),
        file=Path(folder, alarm.file).as_posix() if alarm.file else None,
        line=alarm.line,
        api=alarm.api,
        parameter=alarm.parameter,
        iteration=alarm.iteration,
        silenced=silenced,
    )
