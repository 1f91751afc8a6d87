"""In which order are jobs done? Starts as many as there are shares of the machine for, and yields what they give."""

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
# How often somebody may look at what goes on, and how soon what another program does is asked for again.
LOOK_S = 0.2
AGAIN_S = 1.0


class BusyError(Exception):
    """Another program does this job right now; it is to be tried again later."""


@dataclass(frozen=True, eq=False)
class Job(Generic[W]):
    """Something to do, `item`. `seconds` is what it took elsewhere; None where nobody knows."""

    name: str
    need: Need
    seconds: float | None
    item: W


class Shares(Protocol):
    """What says how much may be done at a time: resources.Slots here, or a cluster, which has a queue of its own."""

    def take(self, need: Need) -> Share | None: ...

    def give(self, share: Share) -> None: ...


def longest_first(jobs: Iterable[Job[W]]) -> list[Job[W]]:
    """The order in which many jobs end soonest, the unknown first; what needs more than one slot comes before."""
    return sorted(jobs, key=lambda job: (-job.need.slots, -(float("inf") if job.seconds is None else job.seconds)))


def schedule(
    jobs: Iterable[Job[W]],
    shares: Shares,
    submit: Callable[[Job[W], Share], "Future[T]"],
    look: Callable[[Sequence[Job[W]], Sequence[Job[W]]], None],
) -> Iterator[tuple[Job[W], T]]:
    """Each job with its result, as they end. Jobs are submitted in the given order: none overtakes one that waits.

    `look` is called with the jobs that run and those that wait, several times a second. The first exception of a job
    ends this; what still runs then is the caller's to stop.
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
