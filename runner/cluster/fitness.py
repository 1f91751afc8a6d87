"""Which workers of a cluster may do a call, by what the scheduler and the workers have said."""

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

    def note_success(self, needs: str, fit: Collection[str] | None) -> None:
        """A call with such needs was done, by one of `fit`; if these are none, by a worker that had
        refused it.
        """
        self._done.add(needs)
        if fit is not None and not fit:
            self._unfit[needs].clear()

    def note_loss(self, needs: str) -> None:
        """All workers that might do such calls have gone: they may be replaced."""
        self._done.add(needs)

    def note_name(self, needs: str, name: str) -> None:
        """Calls that need the same have another name from now on."""
        self._unfit[name] |= self._unfit[needs]
        if needs in self._done:
            self._done.add(name)

    def news(self) -> list[str]:
        """Which workers were found to lack something since the last call, a line each."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def capacity(self, needs: str) -> int:
        """How many such calls can be executed at the same time. Where no worker is fit: none, until
        the wait for one is over, then as many as there are threads.
        """
        fit = [count for each, count in self.threads.items() if each not in self._unfit[needs]]
        if fit or not self._unfit[needs]:
            self._since.pop(needs, None)
            return sum(fit)
        patience = REPLACE_S if needs in self._done else LOOK_S
        waited = time.monotonic() - self._since.setdefault(needs, time.monotonic())
        return sum(self.threads.values()) if waited >= patience else 0

    def select(self, needs: str, asked: Collection[str], busy: int) -> list[str] | None:
        """The workers that may do a call: of other machines than the workers that it has asked, if
        these have threads for the `busy` calls with such needs. None if nobody lacks anything; an
        empty list if no worker is fit.
        """
        if not self._unfit[needs]:
            return None
        fit = sorted(each for each in self.threads if each not in self._unfit[needs])
        hosts = {_host(each) for each in asked}
        others = [each for each in fit if _host(each) not in hosts]
        return others if sum(self.threads[each] for each in others) >= busy else fit


def _host(address: str) -> str:
    return address.rpartition(":")[0]
