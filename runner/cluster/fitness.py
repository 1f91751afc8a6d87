"""Which workers of a cluster may do a call, by what the scheduler and the workers have said."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Collection, Mapping

POLL_S = 1.0
# How long calls wait for a worker that can do them, once there is none; and if such calls were done
# before: a lost worker is often replaced.
LOOK_S, REPLACE_S = 2.0, 120.0


class Fitness:
    """Workers by address, with their threads, and what each of them was found to lack."""

    def __init__(self, where: str) -> None:
        self.threads: Mapping[str, int] = {}
        self._where = where
        self._unfit: dict[str, set[str]] = defaultdict(set)
        self._done: set[str] = set()
        # Since when nobody can do what needs this.
        self._since: dict[str, float] = {}
        self._news: deque[str] = deque()

    def update(self, threads: Mapping[str, int]) -> None:
        """Take over what the scheduler said. A worker that has gone is forgotten: it may be mended
        when it comes back.
        """
        self.threads = threads
        for unfit in self._unfit.values():
            unfit.intersection_update(threads)

    def note_refusal(self, needs: str, worker: str, why: str) -> None:
        """A worker lacks what a call needs."""
        if worker and worker not in self._unfit[needs]:
            self._unfit[needs].add(worker)
            self._news.append(f"{self._where}: worker {worker} cannot do it: {why}")

    def note_success(self, needs: str) -> None:
        """A call with such needs was done."""
        self._done.add(needs)

    def news(self) -> list[str]:
        """Which workers were found to lack something since the last call, a line each."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def capacity(self, needs: str) -> int:
        """How many such calls can be executed at the same time; where no worker is known to be fit,
        as many as there are threads.
        """
        fit = [count for each, count in self.threads.items() if each not in self._unfit[needs]]
        return sum(fit) or sum(self.threads.values())

    async def select(self, needs: str, asked: Collection[str]) -> list[str] | None:
        """The workers that may do a call: of other machines than the workers that it has asked, if
        there are any. None if nobody lacks anything; an empty list if no worker that is fit comes.
        """
        if not self._unfit[needs]:
            self._since.pop(needs, None)
            return None
        patience = REPLACE_S if needs in self._done else LOOK_S
        while True:
            fit = sorted(each for each in self.threads if each not in self._unfit[needs])
            if fit:
                self._since.pop(needs, None)
                hosts = {_host(each) for each in asked}
                return [each for each in fit if _host(each) not in hosts] or fit
            if time.monotonic() - self._since.setdefault(needs, time.monotonic()) >= patience:
                return []
            await asyncio.sleep(POLL_S)


def _host(address: str) -> str:
    return address.rpartition(":")[0]
