"""The scheduler: starts as many jobs as there are shares of the machine for, in order, and yields
their results.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar

from runner.execution.resources import Need, Share

W = TypeVar("W")
T = TypeVar("T")
# Seconds between two calls of `look`, and until a job that another program is doing is tried again.
LOOK_S = 0.2
AGAIN_S = 1.0


class BusyError(Exception):
    """Another program is doing this job; it is to be tried again later."""


@dataclass(frozen=True, eq=False)
class Job(Generic[W]):
    """A job: `item` is what to do, `seconds` its expected duration (None where it is unknown)."""

    name: str
    need: Need
    seconds: float | None
    item: W


class Shares(Protocol):
    """The limit of concurrent jobs: resources.Slots on this machine, backend.ClusterSlots for a
    cluster.
    """

    def take(self, need: Need) -> Share | None:
        """A share for a job with this need, or None while there is none."""

    def give(self, share: Share) -> None:
        """Take a share back."""


def longest_first(jobs: Iterable[Job[W]]) -> list[Job[W]]:
    """The order in which many jobs end soonest: by slots, then by duration, both descending;
    unknown is longest.
    """

    def key(job: Job[W]) -> tuple[int, float]:
        seconds = math.inf if job.seconds is None else job.seconds
        return -job.need.slots, -seconds

    return sorted(jobs, key=key)


def schedule(
    jobs: Iterable[Job[W]],
    shares: Shares,
    submit: Callable[[Job[W], Share], "Future[T]"],
    look: Callable[[Sequence[Job[W]], Sequence[Job[W]]], None],
) -> Iterator[tuple[Job[W], T]]:
    """Yields each job with its result, as they end.

    Jobs are submitted in order: none overtakes one that waits. `look` is called with the
    running jobs and the waiting ones, several times a second. The first exception of a job is
    raised here; the caller has to stop the jobs that still run.
    """
    waiting, later = deque(jobs), deque[tuple[float, Job[W]]]()
    running: dict[Job[W], Share] = {}
    ended: SimpleQueue[tuple[Job[W], Future[T]]] = SimpleQueue()

    def start(job: Job[W], share: Share) -> None:
        running[job] = share
        submit(job, share).add_done_callback(lambda future: ended.put((job, future)))

    while waiting or later or running:
        while later and later[0][0] <= time.monotonic():
            waiting.append(later.popleft()[1])
        while waiting and (share := shares.take(waiting[0].need)):
            start(waiting.popleft(), share)
        look(tuple(running), waiting)
        try:
            job, future = ended.get(timeout=LOOK_S)
        except Empty:
            continue
        shares.give(running.pop(job))
        try:
            result = future.result()
        except BusyError:
            later.append((time.monotonic() + AGAIN_S, job))
        else:
            yield job, result
