"""The local thread pool: it does jobs in threads that are bound to their share of the machine and
can be stopped.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from runner.execution.resources import Share, Slots, pin
from runner.execution.scheduler import Job, longest_first, schedule
from runner.progress.board import Board, TaskRow
from runner.progress.lines import Progress

W = TypeVar("W")
T = TypeVar("T")
# A job calls it repeatedly, with a function that returns a text to show; it raises StoppedError if
# the job must end.
Report = Callable[[Callable[[], str]], None]
Work = Callable[[W, Share, Report], T]


class StoppedError(Exception):
    """The pool was stopped while this job was running."""


class LocalPool:
    """As many threads as there are slots; a terminal shows what they do."""

    def __init__(self, slots: Slots, progress: Progress) -> None:
        self.slots, self.progress = slots, progress

    def do(self, jobs: Sequence[Job[W]], work: Work[W, T]) -> Generator[tuple[W, T], None, None]:
        """Do all jobs; yields each job's item with the result of `work`, as they end.

        The longest jobs start first where there is more than one slot. The first exception stops
        the others, and is raised when they have ended; closing the generator stops them too.
        """
        board: Board[Job[W]] = Board(self.progress, len(jobs), lambda: self.slots.jobs)
        stop = threading.Event()
        with ThreadPoolExecutor(self.slots.jobs, "slot") as threads:

            def submit(job: Job[W], share: Share) -> "Future[T]":
                return threads.submit(_call, job, share, work, board.begin(job), stop)

            order = longest_first(jobs) if self.slots.jobs > 1 else jobs
            try:
                for job, result in schedule(order, self.slots, submit, board.look):
                    board.end(job)
                    yield job.item, result
            finally:
                stop.set()
                threads.shutdown(wait=True, cancel_futures=True)


def _call(job: Job[W], share: Share, work: Work[W, T], row: TaskRow, stop: threading.Event) -> T:
    pin(share)

    def report(note: Callable[[], str]) -> None:
        if stop.is_set():
            raise StoppedError
        row.note = note

    return work(job.item, share, report)
