"""What the sanitizer saw of a program: the launcher's report."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning", "info"]
FAILED = "failed"  # the code under which the sanitizer says that it has switched an invariant off
ADVICE = "info"  # the severity of what may be meant


@dataclass(frozen=True)
class WatchedAlarm:
    """What was seen: since which iteration of the program, and where."""

    iteration: int
    file: str | None
    line: int | None
    api: str | None
    parameter: str | None
    code: str
    message: str
    severity: Severity


@dataclass(frozen=True)
class WatchReport:
    """The launcher's report; `dropped` alarms are not in it,
    and after `error` nothing more was seen. It tells of as many `ranks`, or another rank's tells of
    this one, too.
    """

    alarms: tuple[WatchedAlarm, ...]
    dropped: int
    optimizers: int
    steps: int
    loop_s: float
    error: str | None
    traceback: str | None
    ranks: int = 1
    told_elsewhere: bool = False

    @property
    def broken(self) -> list[WatchedAlarm]:
        """What was seen and is no advice, the first of it at each place,
        in the order of iterations.
        """
        return _first(
            alarm for alarm in self.alarms if alarm.severity != ADVICE and alarm.code != FAILED
        )

    @property
    def advice(self) -> list[WatchedAlarm]:
        """What was seen and is only advice."""
        return _first(
            alarm for alarm in self.alarms if alarm.severity == ADVICE and alarm.code != FAILED
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

    @property
    def is_empty(self) -> bool:
        """Whether nothing was watched: no step was done, and nothing else was broken."""
        return self.steps == 0 and not self.broken


def read(path: Path) -> WatchReport | None:
    """The report; None where there is none, or only a part of it: the program was killed, or has
    written there itself.
    """
    import msgspec

    try:
        # Unlike msgspec's own, this decoder takes any text that Python has written.
        document = json.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(document, WatchReport)
    except (FileNotFoundError, ValueError, RecursionError, msgspec.ValidationError):
        return None


def _first(alarms: Iterator[WatchedAlarm]) -> list[WatchedAlarm]:
    first_alarms: dict[object, WatchedAlarm] = {}
    for alarm in sorted(alarms, key=lambda alarm: alarm.iteration):
        first_alarms.setdefault((alarm.code, alarm.file, alarm.line), alarm)
    return list(first_alarms.values())
