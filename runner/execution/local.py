"""Who does the jobs? Threads of this process, each bound to its share of the machine; they stop when they are told."""

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
# What a job calls again and again: it is told what to show of it, and raises StoppedError where the job is to end.
Report = Callable[[Callable[[], str]], None]
Work = Callable[[W, Share, Report], T]


class StoppedError(Exception):
    """The work was stopped while this job was under way."""


class LocalPool:
    """As many threads as there are slots; on a terminal one sees what they do."""

    def __init__(self, slots: Slots, progress: Progress) -> None:
        self.slots, self.progress = slots, progress

    def do(self, jobs: Sequence[Job[W]], work: Work[W, T]) -> Generator[tuple[W, T], None, None]:
        """Each job's item with what `work` gives for it, as they end; longest first where there is more than one slot.

        The first exception stops the others, and is raised when they have ended; `close` stops them, too.
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
