"""Who does the jobs? Threads of this process, each bound to its share of the machine; they stop when they are told."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from runner.board import Pace, Row, table
from runner.progress import Progress
from runner.schedule import Job, longest_first, schedule
from runner.slots import Share, Slots, pin

W = TypeVar("W")
T = TypeVar("T")
# What a job calls again and again: it is told what to show of it, and raises StoppedError where the job is to end.
Report = Callable[[Callable[[], str]], None]
Work = Callable[[W, Share, Report], T]


class StoppedError(Exception):
    """The work was stopped while this job was under way."""


class Crew:
    """As many threads as there are slots; on a terminal one sees what they do."""

    def __init__(self, slots: Slots, progress: Progress) -> None:
        self.slots, self.progress = slots, progress

    def do(self, jobs: Sequence[Job[W]], work: Work[W, T]) -> Iterator[tuple[W, T]]:
        """Each job's item with what `work` gives for it, as they end; longest first where there is more than one slot.

        The first exception stops the others, and is raised when they have ended.
        """
        with ThreadPoolExecutor(self.slots.jobs, "slot") as threads:
            shift = _Shift(self, threads, work, len(jobs))
            order = longest_first(jobs) if self.slots.jobs > 1 else jobs
            try:
                for job, result in schedule(order, self.slots, shift.submit, shift.look):
                    shift.end(job)
                    yield job.item, result
            finally:
                shift.stop.set()
                threads.shutdown(wait=True, cancel_futures=True)


class _Shift(Generic[W, T]):
    """The work on some jobs, from the first to the last."""

    def __init__(self, crew: Crew, threads: ThreadPoolExecutor, work: Work[W, T], total: int) -> None:
        self.crew, self.threads, self.work, self.total = crew, threads, work, total
        self.stop = threading.Event()
        self.rows: dict[Job[W], Row] = {}
        self.pace = Pace()

    def submit(self, job: Job[W], share: Share) -> "Future[T]":
        self.rows[job] = Row(job.name, job.seconds)
        return self.threads.submit(self._call, job, share)

    def _call(self, job: Job[W], share: Share) -> T:
        pin(share)
        row = self.rows[job]

        def report(note: Callable[[], str]) -> None:
            if self.stop.is_set():
                raise StoppedError
            row.note = note

        return self.work(job.item, share, report)

    def look(self, running: Sequence[Job[W]], waiting: Sequence[Job[W]]) -> None:
        rows = [self.rows[job] for job in running]
        self.crew.progress.status(lambda: table(self.pace.ended, self.total, rows, self._left(rows, waiting)))

    def end(self, job: Job[W]) -> None:
        self.pace.count(self.rows.pop(job).elapsed, job.seconds)

    def _left(self, rows: Sequence[Row], waiting: Sequence[Job[W]]) -> float | None:
        """Seconds until all is done, if every slot has something to do until then; None before anything is known."""
        if not self.pace.ended:
            return None
        of_running = sum(max(0.0, self.pace.of(row.seconds) - row.elapsed) for row in rows)
        return (of_running + sum(self.pace.of(job.seconds) for job in waiting)) / self.crew.slots.jobs
