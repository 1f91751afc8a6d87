"""What is a detector, what is it shown, what does it answer? Frozen objects; no files, no processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NEEDS = ("source", "reference_runs", "in_process", "metrics")
SEVERITIES = ("info", "warning", "error")
# What a detector answers, and what is said of one that gives no answer it is allowed to give.
STATUSES = ("ok", "unsupported", "tool_error", "timeout", "peeked")
# Whose clean runs a detector is given to learn from: the fixed twin with other seeds, or other programs.
REFERENCES = ("none", "same", "cross")
CONTROL = "control"
# The score of a detector whose first alarm says where the fault is, says it roughly, or does not.
DIAGNOSES = ("exact", "near", "no")


@dataclass(frozen=True)
class Alarm:
    """One alarm. `iteration` counts an optimizer's steps from 1; None where the detector knows of no iterations."""

    code: str
    message: str
    severity: str
    iteration: int | None = None
    file: str | None = None
    line: int | None = None
    api: str | None = None
    parameter: str | None = None


@dataclass(frozen=True)
class Rule:
    """When alarms count as a detection, declared before any is seen.

    Those of at least `minimum_severity`, with one of `codes` (all, where there are none), if they are `at_least` many.
    """

    name: str
    minimum_severity: str = "warning"
    codes: tuple[str, ...] = ()
    at_least: int = 1

    def counted(self, alarms: Sequence[Alarm]) -> tuple[Alarm, ...]:
        """The alarms that count, in order of iterations (those without come first); none, where they are too few."""
        chosen = [
            alarm
            for alarm in alarms
            if SEVERITIES.index(alarm.severity) >= SEVERITIES.index(self.minimum_severity)
            and (not self.codes or alarm.code in self.codes)
        ]
        return tuple(sorted(chosen, key=lambda alarm: alarm.iteration or 0)) if len(chosen) >= self.at_least else ()


@dataclass(frozen=True)
class Detector:
    """A detector's directory, read. `program` is its adapter, or, if `in_launcher`, a monitor for the launcher.

    `torch` is a range of versions as packaging writes it; `timeout_s` is for one check, in seconds.
    """

    name: str
    version: str
    title: str
    source: str
    directory: Path
    needs: frozenset[str]
    torch: str
    program: str
    in_launcher: bool
    references: tuple[str, ...]
    rules: tuple[Rule, ...]
    timeout_s: float

    @property
    def has_environment(self) -> bool:
        """Whether it brings packages of its own: a lock beside detector.json."""
        return (self.directory / "requirements.txt").is_file()


@dataclass(frozen=True)
class Invariants:
    """Of a tool that checks invariants: how many it has checked, and how many of them were violated."""

    checked: int
    violated: int


@dataclass(frozen=True)
class Training:
    """How long a detector's training took: its `loop` (from the first optimizer on), or the whole `process`."""

    seconds: float
    of: str


@dataclass(frozen=True)
class Answer:
    """What a detector answered; `reason` says why the status is not ok."""

    status: str
    reason: str | None = None
    alarms: tuple[Alarm, ...] = ()
    dropped: int = 0
    training: Training | None = None
    invariants: Invariants | None = None
    artefacts: tuple[str, ...] = ()
