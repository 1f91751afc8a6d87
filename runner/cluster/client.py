"""The client of a cluster: executes function calls on workers of Dask or Slurm, and returns
standard futures.
"""

import asyncio
import math
import pickle
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from runner.cluster import calls, connection, slurm
from runner.cluster.fitness import POLL_S, Fitness
from runner.errors import ClusterError, UsageError, WorkerLostError

Result = TypeVar("Result")

# How long calls may wait for a first worker before `trouble` says so.
PATIENCE_S = 30.0
# How often Slurm is asked for jobs to replace those that it refused or that have ended.
ASK_S = 10.0
CLOSE_S = 20.0
# How many workers one call may ask that cannot do it, and how often all others may be lost.
MOST_ASKED, MOST_LOST = 4, 4


class _Gone(Exception):  # noqa: N818 - nothing is wrong
    """The workers that might do a call have gone; others may do it."""


class Cluster:
    """Workers on other machines; each thread executes one call at a time.

    Made by `connect`; a context manager. Dask gets no more calls than there are threads of workers
    that may do them, because it suspects every call that was assigned to a lost worker of having
    killed it, and takes no call from a worker that it was bound to. A result
    is fetched at once and then released on the worker, because Dask would compute it again if that
    worker were lost.
    """

    def __init__(
        self, client: Any, where: str, advice: str, deployed: Any = None, jobs: int = 0
    ) -> None:
        self.where = where
        self._client = client
        self._advice = advice
        self._deployed = deployed
        self._jobs = jobs
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._calls: set[Future[Any]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Condition()
        self._threads = 0
        self._running = 0
        self._gone = False
        self._had_workers = False
        self._alone_since: float | None = time.monotonic()
        self._refused: str | None = None
        self._fitness = Fitness(where)
        # How many calls are running, by what they need of a worker.
        self._busy: Counter[str] = Counter()
        # How many calls wait for a worker that is fit.
        self._blocked = 0
        self._watcher = asyncio.run_coroutine_threadsafe(self._watch(), self._loop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def threads(self) -> int:
        """How many calls can be executed at the same time, as of a second ago."""
        return self._threads

    @property
    def blocked(self) -> int:
        """How many calls wait for a worker that can do them, and keep no other call waiting."""
        return self._blocked

    def submit(
        self, function: Callable[..., Result], *args: Any, needs: str = ""
    ) -> "Future[Result]":
        """Call a module-level function on some worker; if that worker is lost, on another one.

        `needs` names what the call needs of a worker. A worker on which the function raised
        UnfitError gets no more calls that need it, as long as there are others. A call asks at
        most MOST_ASKED such workers.

        The future raises what the function raised, or WorkerLostError, or ClusterError. It can be
        cancelled at any time: `calls.stop_if_abandoned`, which a long function has to call, then
        raises.
        """
        future = asyncio.run_coroutine_threadsafe(
            self._call(calls.pack(function, *args), needs), self._loop
        )
        self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        return future

    def rename(self, needs: str, name: str) -> None:
        """What is known of calls with such needs holds for later ones that say `name`."""
        if name != needs:
            self._loop.call_soon_threadsafe(self._fitness.note_name, needs, name)

    def trouble(self) -> str | None:
        """Why calls wait, in one line, if there has been no worker for a while; None where all is
        well.
        """
        since = self._alone_since
        if since is None or time.monotonic() - since < PATIENCE_S or not self._calls:
            return None
        reason = f" ({self._refused})" if self._refused else ""
        seconds = f"{time.monotonic() - since:.0f} s"
        problem = (
            f"no worker for {seconds}"
            if self._had_workers
            else f"no worker has joined for {seconds}"
        )
        return f"{self.where}: {problem}{reason}; {self._advice}"

    def news(self) -> list[str]:
        """Which workers were found to lack something since the last call, a line each."""
        return self._fitness.news()

    def close(self) -> None:
        """Cancel the calls that have not ended, and disconnect; workers that were started for this
        object are ended.
        """
        self._watcher.cancel()
        for future in list(self._calls):
            future.cancel()
        with suppress(TimeoutError, OSError):
            self._client.close(timeout=CLOSE_S)
        if self._deployed is not None:
            with suppress(TimeoutError, OSError):
                self._deployed.close(timeout=CLOSE_S)

    async def _call(self, call: bytes, needs: str) -> Any:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self._gone:
                raise self._lost()
            return await self._result(call, needs)
        except asyncio.CancelledError:
            if self._gone:
                raise self._lost() from None
            raise
        finally:
            self._tasks.discard(task)

    @asynccontextmanager
    async def _thread(self, needs: str) -> AsyncIterator[None]:
        """Wait until a worker that may do such a call has a free thread, and keep it."""

        def is_free() -> bool:
            capacity = self._fitness.capacity(needs)
            return self._running < self._threads and self._busy[needs] < capacity

        async with self._changed:
            while not is_free():
                # Others may use the threads that are free.
                is_blocked = self._running < self._threads
                self._blocked += is_blocked
                try:
                    await self._changed.wait()
                finally:
                    self._blocked -= is_blocked
            self._running += 1
            self._busy[needs] += 1
        try:
            yield
        finally:
            self._running -= 1
            self._busy[needs] -= 1
            async with self._changed:
                self._changed.notify_all()

    async def _result(self, call: bytes, needs: str) -> Any:
        asked: set[str] = set()
        losses = 0
        refusal: calls.UnfitError | None = None
        while True:
            # Without a worker that is fit, `_thread` has waited for one.
            async with self._thread(needs):
                fit = self._fitness.select(needs, asked, self._busy[needs])
                if refusal is not None and fit is not None and not fit:
                    return refusal.outcome()
                try:
                    result = calls.unpack(await self._performed(call, fit))
                except calls.Abandoned:
                    # The result is still needed, so the worker was about to end; another one
                    # executes the call.
                    continue
                except _Gone:
                    self._fitness.note_loss(needs)
                    losses += 1
                    if losses == MOST_LOST:
                        raise self._all_lost(losses) from None
                    continue
                except calls.UnfitError as error:
                    self._fitness.note_refusal(needs, error.worker, error.why)
                    is_last = bool(fit) and error.worker in asked
                    asked.add(error.worker)
                    if is_last or len(asked) >= MOST_ASKED or not error.worker:
                        return error.outcome()
                    refusal = error
                    continue
                self._fitness.note_success(needs, fit)
                return result

    def _all_lost(self, losses: int) -> WorkerLostError:
        return WorkerLostError(
            f"{self.where}: all workers that could do it were lost {losses} times; their logs may "
            "say why (memory, time limit, machine)"
        )

    async def _performed(self, call: bytes, fit: list[str] | None) -> bytes:
        """The outcome of a call on one of these workers; on any, if there is none of them. Raises
        _Gone if all of them have gone.
        """
        from distributed.scheduler import KilledWorker

        # Not `calls.perform`: a worker without this module would end when it reads the name, and so
        # would the next one.
        future = self._client.submit(pickle.loads, call, pure=False, workers=fit or None)
        try:
            outcome: bytes = await self._ended(future, fit)
            return outcome
        except (ClusterError, _Gone):
            raise
        except KilledWorker as error:
            raise WorkerLostError(
                f"{self.where}: {error.allowed_failures + 1} workers were lost while they did it, "
                f"the last one was {error.last_worker.address}; its log may say why (memory, time "
                "limit, machine)"
            ) from error
        except Exception as error:
            if future.status == "cancelled":
                self._give_up()
                raise self._lost() from error
            if isinstance(error, ImportError):
                raise connection.lack_error(f"{self.where}: a worker", error) from error
            raise ClusterError(f"{self.where}: {connection.first_line(error)}") from error
        finally:
            future.release()

    async def _ended(self, future: Any, fit: list[str] | None) -> Any:
        """The result of Dask's future. If all workers that may do it have gone, Dask would wait
        for ever.
        """
        if not fit:
            return await future
        waiting = asyncio.ensure_future(future)
        try:
            while not (await asyncio.wait({waiting}, timeout=POLL_S))[0]:
                # The scheduler may have said nothing lately: `_watch` ends all calls if it is gone.
                if not set(fit) & set(self._fitness.threads):
                    raise _Gone
            return await waiting
        finally:
            waiting.cancel()

    def _give_up(self) -> None:
        """End every call, also those that wait: the scheduler is gone, and with it all that was
        running.
        """
        self._gone = True
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"{self.where}: the scheduler is gone; start it and the same command again"
        )

    async def _watch(self) -> None:
        """Update the number of threads, notice when the scheduler ends, and keep asking Slurm for
        the missing jobs.
        """
        asked_at = -math.inf
        while not self._gone:
            threads: dict[str, int] = {}
            # Any exception: a scheduler that does not answer has no workers to offer.
            with suppress(Exception):
                # Not `wait_for`: in Python 3.11 it may lose a cancellation.
                async with asyncio.timeout(PATIENCE_S):
                    threads = await self._client.nthreads()
                self._fitness.update(threads)
            await self._note(sum(threads.values()))
            if self._client.status != "running":
                self._give_up()
            elif (
                self._deployed is not None
                and len(threads) < self._jobs
                and time.monotonic() > asked_at + ASK_S
            ):
                asked_at = time.monotonic()
                # Any exception would end this task, and with it all news of workers.
                with suppress(Exception):
                    self._refused = slurm.ask(self._deployed, self._jobs)
            await asyncio.sleep(POLL_S)

    async def _note(self, threads: int) -> None:
        if threads:
            self._alone_since, self._had_workers = None, True
        elif self._alone_since is None:
            self._alone_since = time.monotonic()
        async with self._changed:
            self._threads = threads
            self._changed.notify_all()


def connect(spec: str, jobs: int, logs: Path | None = None) -> Cluster:
    """The cluster of `dask:ADDRESS`, `dask:SCHEDULER_FILE`, or `slurm`: `jobs` batch jobs of one
    call at a time.

    `logs` is the folder for the logs of Slurm's jobs. Raises UsageError for another `spec`, and
    where packages are missing or of other versions than here, ClusterError where no scheduler
    answers.
    """
    kind, _, address = spec.partition(":")
    if spec != "slurm" and (kind != "dask" or not address):
        raise UsageError(
            f"executor is {spec!r}, expected dask:HOST:PORT, dask:SCHEDULER_FILE or slurm"
        )
    connection.require(kind)
    if kind == "slurm":
        return _slurm(jobs, logs)
    where = connection.address(address)
    client = connection.client(where, where)
    try:
        connection.check(client, where)
    except BaseException:
        client.close(timeout=CLOSE_S)
        raise
    return Cluster(client, where, f"start one: dask worker {where} --nthreads 1")


def _slurm(jobs: int, logs: Path | None) -> Cluster:
    deployed = slurm.start(logs)
    advice = "`squeue --me` may say why" + (f", the logs of jobs in {logs} too" if logs else "")
    try:
        return Cluster(connection.client("Slurm", deployed), "Slurm", advice, deployed, jobs)
    except BaseException:
        deployed.close(timeout=CLOSE_S)
        raise
