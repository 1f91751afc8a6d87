"""The status display of running jobs: how many are done, which ones run, and how long the rest will
take.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from runner.progress.lines import Progress

# More rows would not help a reader.
ROWS = 12


class BoardJob(Protocol):
    """A job as a board shows it: a name, and the seconds that it is expected to take (None: not
    known).
    """

    @property
    def name(self) -> str: ...

    @property
    def seconds(self) -> float | None: ...


T = TypeVar("T", bound=BoardJob)


@dataclass
class TaskRow:
    """A running job: `seconds` is its expected duration; `note` returns more text, and is called
    when it is drawn.
    """

    name: str
    seconds: float | None
    note: Callable[[], str] = str
    since: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the job began."""
        return time.monotonic() - self.since


@dataclass
class Pace:
    """How long jobs take here, compared with what was expected of them."""

    ended: int = 0
    took: float = 0.0
    measured: float = 0.0
    expected: float = 0.0

    def count(self, took: float, expected: float | None) -> None:
        """Count a job that has ended: the seconds that it took and those that were expected."""
        self.ended += 1
        self.took += took
        if expected:
            self.measured += took
            self.expected += expected

    def of(self, expected: float | None) -> float:
        """Seconds that a job will take here, from those expected; None: the mean of those that have
        ended.
        """
        if expected is None:
            return self.took / self.ended if self.ended else 0.0
        slowdown = self.measured / self.expected if self.expected else 1.0
        return expected * slowdown


class Board(Generic[T]):
    """The running jobs, shown on a terminal several times a second; `at_once` returns how many run
    at the same time.
    """

    def __init__(self, progress: Progress, total: int, at_once: Callable[[], int]) -> None:
        self.progress, self.total, self.at_once = progress, total, at_once
        self.rows: dict[T, TaskRow] = {}
        self.pace = Pace()

    def begin(self, job: T) -> TaskRow:
        """Add a job that has been started; returns its row."""
        self.rows[job] = TaskRow(job.name, job.seconds)
        return self.rows[job]

    def end(self, job: T) -> None:
        """Remove a job that has ended, and count the time that it took."""
        self.pace.count(self.rows.pop(job).elapsed, job.seconds)

    def look(self, running: Sequence[T], waiting: Sequence[T]) -> None:
        """Show the running jobs, if it is time for that; the waiting ones count for the time that
        is left.
        """
        rows = [self.rows[job] for job in running]
        self.progress.status(
            lambda: table(self.pace.ended, self.total, rows, self._remaining(rows, waiting))
        )

    def _remaining(self, rows: Sequence[TaskRow], waiting: Sequence[T]) -> float | None:
        """Seconds until all jobs are done, if no slot is ever idle.

        None as long as no job has ended and those expected of some job are not known.
        """
        expected = [row.seconds for row in rows] + [job.seconds for job in waiting]
        if not self.pace.ended and None in expected:
            return None
        running_s = sum(max(0.0, self.pace.of(row.seconds) - row.elapsed) for row in rows)
        waiting_s = sum(self.pace.of(job.seconds) for job in waiting)
        return (running_s + waiting_s) / max(1, self.at_once())


def table(done: int, total: int, rows: Sequence[TaskRow], left_s: float | None) -> str:
    """A line about all jobs, then a line for each one that runs, for the first ROWS."""
    remaining = "" if left_s is None else f", about {duration(left_s)} left"
    head = f"{done} of {total} done, {len(rows)} running{remaining}"
    lines = [head]
    for row in rows[:ROWS]:
        lines.append(f"  {row.name}  {duration(row.elapsed)}{_expected(row)}{_note(row)}")
    if len(rows) > ROWS:
        lines.append(f"  … and {len(rows) - ROWS} more")
    return "\n".join(lines)


def _expected(row: TaskRow) -> str:
    return "" if row.seconds is None else f" of {duration(row.seconds)}"


def _note(row: TaskRow) -> str:
    note = row.note()
    return f"  {note}" if note else ""


def duration(seconds: float) -> str:
    """Seconds as a person says them: 12 s, 3 min, 1.6 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
