"""What goes on right now, in a few lines: how much is done, what runs, how long it will take."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from runner.progress.lines import Progress

# More rows than that tell nobody anything.
ROWS = 12


class Task(Protocol):
    """What a board shows: a name, and the seconds that it is expected to take (None: not known)."""

    @property
    def name(self) -> str: ...

    @property
    def seconds(self) -> float | None: ...


T = TypeVar("T", bound=Task)


@dataclass
class TaskRow:
    """Something that runs: `seconds` are those that it is expected to take; `note` says more, when it is asked."""

    name: str
    seconds: float | None
    note: Callable[[], str] = str
    since: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.since


@dataclass
class Pace:
    """How long things take here, against what was expected of them."""

    ended: int = 0
    took: float = 0.0
    measured: float = 0.0
    expected: float = 0.0

    def count(self, took: float, expected: float | None) -> None:
        self.ended += 1
        self.took += took
        if expected:
            self.measured += took
            self.expected += expected

    def of(self, expected: float | None) -> float:
        """Seconds that something will take here; what is not known takes as long as others did."""
        if expected is None:
            return self.took / self.ended if self.ended else 0.0
        return expected * (self.measured / self.expected if self.expected else 1.0)


class Board(Generic[T]):
    """The jobs that run, shown on a terminal several times a second; `at_once` run at the same time."""

    def __init__(self, progress: Progress, total: int, at_once: Callable[[], int]) -> None:
        self.progress, self.total, self.at_once = progress, total, at_once
        self.rows: dict[T, TaskRow] = {}
        self.pace = Pace()

    def begin(self, job: T) -> TaskRow:
        self.rows[job] = TaskRow(job.name, job.seconds)
        return self.rows[job]

    def end(self, job: T) -> None:
        self.pace.count(self.rows.pop(job).elapsed, job.seconds)

    def look(self, running: Sequence[T], waiting: Sequence[T]) -> None:
        rows = [self.rows[job] for job in running]
        self.progress.status(lambda: table(self.pace.ended, self.total, rows, self._left(rows, waiting)))

    def _left(self, rows: Sequence[TaskRow], waiting: Sequence[T]) -> float | None:
        """Seconds until all is done, if nobody is ever idle; None before anything is known."""
        if not self.pace.ended:
            return None
        of_running = sum(max(0.0, self.pace.of(row.seconds) - row.elapsed) for row in rows)
        return (of_running + sum(self.pace.of(job.seconds) for job in waiting)) / max(1, self.at_once())


def table(done: int, total: int, rows: Sequence[TaskRow], left_s: float | None) -> str:
    """A line on the whole, then a line on each thing that runs."""
    left = "" if left_s is None else f", about {_duration(left_s)} left"
    head = f"{done} of {total} done, {len(rows)} running{left}"
    lines = [f"  {row.name}  {_duration(row.elapsed)}{_expected(row)}{_note(row)}" for row in rows[:ROWS]]
    more = [f"  … and {len(rows) - ROWS} more"] if len(rows) > ROWS else []
    return "\n".join([head, *lines, *more])


def _expected(row: TaskRow) -> str:
    return "" if row.seconds is None else f" of {_duration(row.seconds)}"


def _note(row: TaskRow) -> str:
    said = row.note()
    return f"  {said}" if said else ""


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
