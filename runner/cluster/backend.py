"""Executes runs on a cluster; this process alone writes the results."""

import math
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from runner.cluster import worker
from runner.cluster.worker import Delivery, Where
from runner.environments.runtime import Runtime
from runner.errors import WorkerLostError
from runner.execution.execute import not_done
from runner.execution.queue import DoneTogether, RunQueue
from runner.execution.resources import Need, Share
from runner.execution.run import Run
from runner.execution.scheduler import Job, longest_first, schedule
from runner.progress.board import Board
from runner.progress.lines import Progress
from runner.results.record import RunRecord
from runner.results.store import Store

if TYPE_CHECKING:
    from runner.cluster.client import Cluster

# Seconds between looks at a call that waits, and between lines that say why.
LOOK_S, AGAIN_S = 1.0, 30.0
Jobs = Sequence[Job[Sequence[Run]]]
W = TypeVar("W")
T = TypeVar("T")


class ClusterRuntimes:
    """The runtimes of one session, as found on a worker of the cluster; each is requested once."""

    def __init__(self, cluster: "Cluster", where: Where, progress: Progress) -> None:
        self.cluster, self.where, self.progress = cluster, where, progress
        self._runtimes: dict[str, Runtime] = {}

    def get(self, name: str) -> Runtime:
        """The runtime of that environment on a worker; raises TrainbugsError where no worker
        that was asked can provide it.
        """
        if name not in self._runtimes:
            self.progress.line(
                f"environment {name}: asking a worker, which builds it if it is missing"
            )
            runtime = self._waited_for(
                self.cluster.submit(worker.find_runtime, self.where, name, needs=name)
            )
            # Runs say what they need by the name of the environment that was found.
            self.cluster.rename(name, runtime.environment)
            self._runtimes[name] = runtime
        return self._runtimes[name]

    def _waited_for(self, call: "Future[Runtime]") -> Runtime:
        reminder = Reminder(self.cluster, self.progress)
        while True:
            try:
                return call.result(timeout=LOOK_S)
            except TimeoutError:
                # The function itself may have raised it.
                if call.done():
                    raise
                reminder.look()


class Reminder:
    """Says why calls on a cluster wait, and again every AGAIN_S seconds."""

    def __init__(self, cluster: "Cluster", progress: Progress) -> None:
        self.cluster, self.progress = cluster, progress
        self._next = -math.inf

    def look(self) -> None:
        """Write what is new, and what is wrong, where it is time to say it again."""
        for line in self.cluster.news():
            self.progress.note(line)
        trouble, now = self.cluster.trouble(), time.monotonic()
        if trouble is None:
            self._next = now
        elif now >= self._next:
            self.progress.note(trouble)
            self._next = now + AGAIN_S


class ClusterPool:
    """As many calls on workers as these can do at a time; a terminal shows what is being done."""

    def __init__(self, cluster: "Cluster", progress: Progress) -> None:
        self.cluster, self.progress = cluster, progress

    def do(
        self, jobs: Sequence[Job[W]], call: Callable[[W], "Future[T]"]
    ) -> Generator[tuple[W, T], None, None]:
        """Yields each job's item with the result of its call, as they end; the longest jobs start
        first.

        The first exception is raised. Calls that have not ended then, or when the generator is
        closed, are cancelled.
        """
        board: Board[Job[W]] = Board(self.progress, len(jobs), lambda: self.cluster.threads)
        calls: set[Future[T]] = set()

        def submit(job: Job[W], share: Share) -> "Future[T]":
            board.begin(job)
            future = call(job.item)
            calls.add(future)
            future.add_done_callback(calls.discard)
            return future

        try:
            for job, result in schedule(
                longest_first(jobs), ClusterSlots(self.cluster), submit, self._looking(board)
            ):
                board.end(job)
                yield job.item, result
        finally:
            for future in list(calls):
                future.cancel()
            for line in self.cluster.news():
                self.progress.note(line)

    def _looking(
        self, board: Board[Job[W]]
    ) -> Callable[[Sequence[Job[W]], Sequence[Job[W]]], None]:
        """A function that shows the running jobs and, where nothing can run, the reason."""
        reminder = Reminder(self.cluster, self.progress)

        def look(running: Sequence[Job[W]], waiting: Sequence[Job[W]]) -> None:
            reminder.look()
            board.look(running, waiting)

        return look


class ClusterQueue(RunQueue):
    """Executes runs on workers. Runs of a worker that is lost are executed again on another one."""

    def __init__(
        self, store: Store, cluster: "Cluster", where: Where, progress: Progress, force: bool
    ) -> None:
        super().__init__(store, progress, force)
        self.cluster, self.where = cluster, where

    def _do(self, jobs: Jobs) -> DoneTogether:
        def call(runs: Sequence[Run]) -> "Future[Delivery]":
            run = runs[0]
            needs = run.runtime.environment
            done = self.cluster.submit(worker.perform, self.where, run, needs=needs)
            return _or_lost(done, run)

        with closing(ClusterPool(self.cluster, self.progress).do(jobs, call)) as done:
            for runs, delivery in done:
                yield runs, self._keep(delivery)

    def _keep(self, delivery: Delivery) -> RunRecord:
        self.store.save_logs(delivery.record, delivery.logs)
        self.store.save(delivery.record)
        return delivery.record


class ClusterSlots:
    """As many slots as the cluster can execute calls at the same time; one, where it has no worker
    yet.
    """

    def __init__(self, cluster: "Cluster") -> None:
        self.cluster = cluster
        self._count = 0

    def take(self, need: Need) -> Share | None:
        """A share, or None while the cluster is full."""
        # Calls that only one worker can do are no reason to leave the others idle.
        if self._count - self.cluster.blocked >= max(1, self.cluster.threads):
            return None
        self._count += 1
        return Share(need)

    def give(self, share: Share) -> None:
        """Take a share back."""
        self._count -= 1


class _Linked(Future[Delivery]):
    """Whoever cancels it cancels the call that it is the outcome of."""

    def __init__(self, call: "Future[Delivery]") -> None:
        super().__init__()
        self._call = call

    def cancel(self) -> bool:
        return self._call.cancel()


def _or_lost(call: "Future[Delivery]", run: Run) -> "Future[Delivery]":
    """Turn WorkerLostError into a failed run; other results and errors of the call stay as they
    are.
    """
    outcome: Future[Delivery] = _Linked(call)

    def ended(call: "Future[Delivery]") -> None:
        try:
            outcome.set_result(call.result())
        except WorkerLostError as error:
            outcome.set_result(Delivery(not_done(run, str(error)), {}))
        except BaseException as error:
            outcome.set_exception(error)

    call.add_done_callback(ended)
    return outcome
