"""What the sanitizer saw of a program: the launcher's report, and what a person is told of it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

FAILED = "failed"  # the code under which the sanitizer says that it has switched an invariant off


class WatchedAlarm(msgspec.Struct, frozen=True):
    """What was seen: since which iteration of the program, and where."""

    iteration: int
    file: str | None
    line: int | None
    api: str | None
    parameter: str | None
    code: str
    message: str
    severity: str


class WatchReport(msgspec.Struct, frozen=True):
    """The launcher's report; `dropped` alarms are not in it,
    and after `error` nothing more was seen.
    """

    alarms: tuple[WatchedAlarm, ...]
    dropped: int
    optimizers: int
    steps: int
    loop_s: float
    error: str | None
    traceback: str | None

    @property
    def broken(self) -> list[WatchedAlarm]:
        """What was seen and is no advice, the first of it at each place,
        in the order of iterations.
        """
        return _first(
            alarm for alarm in self.alarms if alarm.severity != "info" and alarm.code != FAILED
        )

    @property
    def advice(self) -> list[WatchedAlarm]:
        """What was seen and is only advice."""
        return _first(
            alarm for alarm in self.alarms if alarm.severity == "info" and alarm.code != FAILED
        )

    @property
    def failures(self) -> list[str]:
        """What failed of the sanitizer itself: an invariant, or all of it."""
        return [alarm.message for alarm in self.alarms if alarm.code == FAILED] + (
            [self.error] if self.error else []
        )

    @property
    def has_error(self) -> bool:
        """Whether something was seen that cannot be meant."""
        return any(alarm.severity == "error" for alarm in self.broken)


class Finding(NamedTuple):
    """A row of the table, and the text below it."""

    row: tuple[str, ...]
    text: str


HEADING = ("WHAT", "SEVERITY", "WHERE", "SINCE", "TO SILENCE IT")


def read(path: Path) -> WatchReport | None:
    """The report; None where there is none, or only a part of it: the program was killed."""
    try:
        # Unlike msgspec's own, this decoder takes any text that Python has written.
        document = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return msgspec.convert(document, WatchReport)


def findings(alarms: Sequence[WatchedAlarm], folder: str) -> list[Finding]:
    """The rows of the table; files are told from the working directory,
    `folder` is that of the script.
    """
    return [Finding(_row(alarm, folder), _text(alarm)) for alarm in alarms]


def summary(report: WatchReport, ignored: Sequence[str]) -> str:
    """What was seen, in one line."""
    extent = f"in {_many(report.steps, 'step')} of {_many(report.optimizers, 'optimizer')}"
    silenced = f"; ignored: {', '.join(ignored)}" if ignored else ""
    names = {alarm.code for alarm in report.broken}
    if names:
        return (
            f"{_many(len(names), 'invariant')} {'was' if len(names) == 1 else 'were'} broken "
            f"{extent}{silenced}"
        )
    if not report.optimizers:
        return f"no optimizer was seen: nothing was watched{silenced}"
    until = ", until the sanitizer failed" if report.error else ""
    return f"no invariant was broken {extent}{until}{silenced}"


def _first(alarms: Iterator[WatchedAlarm]) -> list[WatchedAlarm]:
    first_alarms: dict[object, WatchedAlarm] = {}
    for alarm in sorted(alarms, key=lambda alarm: alarm.iteration):
        first_alarms.setdefault((alarm.code, alarm.file, alarm.line), alarm)
    return list(first_alarms.values())


def _row(alarm: WatchedAlarm, folder: str) -> tuple[str, ...]:
    where = str(Path(folder, alarm.file)) + f":{alarm.line}" if alarm.file else "-"
    return (
        alarm.code,
        alarm.severity,
        where,
        f"iteration {alarm.iteration}",
        f"--ignore {alarm.code}",
    )


def _text(alarm: WatchedAlarm) -> str:
    parameter = f" (parameter {alarm.parameter})" if alarm.parameter else ""
    return f"{alarm.message}{parameter}"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
