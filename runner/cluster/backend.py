"""Executes runs on a cluster; this process alone writes the results."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

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

Jobs = Sequence[Job[Sequence[Run]]]
Look = Callable[[Jobs, Jobs], None]


class ClusterRuntimes:
    """The runtimes of one session, as found on a worker of the cluster; each is requested once."""

    def __init__(self, cluster: "Cluster", where: Where, progress: Progress) -> None:
        self.cluster, self.where, self.progress = cluster, where, progress
        self._runtimes: dict[str, Runtime] = {}

    def get(self, name: str) -> Runtime:
        """The runtime of that environment on a worker; raises TrainbugsError where the worker cannot provide it."""
        if name not in self._runtimes:
            self.progress.line(f"environment {name}: asking a worker, which builds it if it is missing")
            self._runtimes[name] = self.cluster.submit(worker.find_runtime, self.where, name).result()
        return self._runtimes[name]


class ClusterQueue(RunQueue):
    """Executes runs on workers. Runs of a worker that is lost are executed again on another one."""

    def __init__(self, store: Store, cluster: "Cluster", where: Where, progress: Progress, force: bool) -> None:
        super().__init__(store, progress, force)
        self.cluster, self.where = cluster, where

    def _do(self, jobs: Jobs) -> DoneTogether:
        board: Board[Job[Sequence[Run]]] = Board(self.progress, len(jobs), lambda: self.cluster.threads)
        calls: set[Future[Delivery]] = set()

        def submit(job: Job[Sequence[Run]], share: Share) -> "Future[Delivery]":
            board.begin(job)
            call = self.cluster.submit(worker.perform, self.where, job.item[0])
            calls.add(call)
            call.add_done_callback(calls.discard)
            return _or_lost(call, job.item[0])

        try:
            for job, delivery in schedule(
                longest_first(jobs), ClusterSlots(self.cluster), submit, self._looking(board)
            ):
                board.end(job)
                yield job.item, self._keep(delivery)
        finally:
            for call in list(calls):
                call.cancel()

    def _looking(self, board: Board[Job[Sequence[Run]]]) -> Look:
        """A function that shows the running jobs and, where nothing can run, prints the reason once."""
        printed: list[str] = []

        def look(running: Jobs, waiting: Jobs) -> None:
            trouble = self.cluster.trouble()
            if trouble and not printed:
                self.progress.note(trouble)
            printed[:] = [trouble] if trouble else []
            board.look(running, waiting)

        return look

    def _keep(self, delivery: Delivery) -> RunRecord:
        self.store.save_logs(delivery.record, delivery.logs)
        self.store.save(delivery.record)
        return delivery.record


class ClusterSlots:
    """As many slots as the cluster can execute calls at the same time; one, where it has no worker yet."""

    def __init__(self, cluster: "Cluster") -> None:
        self.cluster = cluster
        self._count = 0

    def take(self, need: Need) -> Share | None:
        """A share, or None while the cluster is full."""
        if self._count >= max(1, self.cluster.threads):
            return None
        self._count += 1
        return Share(need)

    def give(self, share: Share) -> None:
        """Take a share back."""
        self._count -= 1


def _or_lost(call: "Future[Delivery]", run: Run) -> "Future[Delivery]":
    """Turn WorkerLostError into a failed run; other results and errors of the call stay as they are."""
    outcome: Future[Delivery] = Future()

    def ended(call: "Future[Delivery]") -> None:
        try:
            outcome.set_result(call.result())
        except WorkerLostError as error:
            outcome.set_result(Delivery(not_done(run, str(error)), {}))
        except BaseException as error:
            outcome.set_exception(error)

    call.add_done_callback(ended)
    return outcome
