"""Which workers a call goes to, if some of them cannot do it; without a scheduler."""

import asyncio
import pickle
import time
from collections import Counter
from typing import Any

import pytest

from runner.cluster import client, fitness
from runner.cluster.backend import ClusterSlots
from runner.cluster.calls import UnfitError
from runner.errors import UnbuiltError, WorkerLostError
from runner.execution.resources import Need


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    for name, value in (("POLL_S", 0.01), ("LOOK_S", 0.02), ("REPLACE_S", 0.2)):
        monkeypatch.setattr(fitness, name, value)


class Cluster(client.Cluster):
    """Workers by address; `good` ones do calls. A call goes to the first one that it may go to, and
    `lost` calls lose their workers.
    """

    def __init__(self, *addresses, good=(), names=None, threads=9, lost=0):
        self.where, self._threads, self._running, self._blocked = "here", 9, 0, 0
        self._busy, self._changed = Counter(), asyncio.Condition()
        self._fitness = fitness.Fitness("here")
        self._fitness.update(dict.fromkeys(addresses, threads))
        self.good, self.names, self.lost = good, names or {}, lost
        self.asked, self.most_busy = [], 0

    async def _performed(self, call, fit):
        self.most_busy = max(self.most_busy, self._running)
        await asyncio.sleep(0)
        if self.lost:
            self.lost -= 1
            raise client._Gone
        chosen = (fit or list(self._fitness.threads))[0]
        self.asked.append(chosen)
        if chosen in self.good:
            return pickle.dumps((chosen, None))
        error = UnfitError("no wheel", error=UnbuiltError("could not be built"))
        error.worker = self.names.get(chosen, chosen)
        return pickle.dumps((None, error))

    async def _look(self):
        while True:
            await asyncio.sleep(0.01)
            async with self._changed:
                self._changed.notify_all()

    def ask(self, *needs, meanwhile=None):
        """The results of calls that are made at the same time."""

        async def all_of_them():
            others = [] if meanwhile is None else [meanwhile()]
            tasks = [self._result(b"", need) for need in needs]
            watch = asyncio.ensure_future(self._look())
            try:
                return (await asyncio.gather(*tasks, *others))[: len(needs)]
            finally:
                watch.cancel()

        return asyncio.run(all_of_them())


def test_another_worker_does_it_and_the_first_is_not_asked_again():
    cluster = Cluster("a", "b", good=("b",))
    assert cluster.ask("torch") == ["b"]
    assert cluster.ask("torch") == ["b"]
    assert cluster.asked == ["a", "b", "b"]
    assert cluster.news() == ["here: worker a cannot do it: no wheel"]
    assert cluster.news() == []


def test_a_worker_that_lacks_one_environment_is_asked_for_another():
    cluster = Cluster("a", "b", good=("b",))
    cluster.ask("torch")
    cluster.ask("jax")
    assert cluster.asked == ["a", "b", "a", "b"]


def test_calls_that_one_worker_refuses_at_the_same_time_are_all_done():
    cluster = Cluster("a", "b", good=("b",))
    assert cluster.ask("torch", "torch", "torch") == ["b"] * 3
    assert len(cluster.news()) == 1


def test_a_call_asks_few_workers_that_cannot_do_it():
    cluster = Cluster(*(f"{host}:1" for host in range(9)))
    with pytest.raises(UnbuiltError, match="could not be built"):
        cluster.ask("torch")
    assert len(cluster.asked) == client.MOST_ASKED


def test_a_call_asks_another_machine_before_another_worker_of_the_same():
    bad = [f"host-1:{port}" for port in range(8)]
    cluster = Cluster(*bad, "host-2:0", good=("host-2:0",))
    assert cluster.ask("torch") == ["host-2:0"]
    assert len(cluster.asked) == 2


def test_a_call_that_no_worker_can_do_ends():
    cluster = Cluster("a", "b")
    for _ in range(2):
        with pytest.raises(UnbuiltError):
            cluster.ask("torch")
    assert cluster.asked == ["a", "b", "a"]


@pytest.mark.parametrize("name", ["a's own name", ""])
def test_a_worker_that_the_scheduler_knows_by_another_name_is_not_asked_for_ever(name):
    cluster = Cluster("a", names={"a": name})
    with pytest.raises(UnbuiltError):
        cluster.ask("torch")
    assert len(cluster.asked) <= 2


def test_a_call_whose_workers_have_gone_goes_to_others():
    cluster = Cluster("a", good=("a",), lost=2)
    assert cluster.ask("torch") == ["a"]


def test_a_call_that_loses_its_workers_again_and_again_ends():
    cluster = Cluster("a", good=("a",), lost=99)
    with pytest.raises(WorkerLostError, match="lost 4 times"):
        cluster.ask("torch")
    assert cluster.lost == 99 - client.MOST_LOST


def test_calls_wait_for_the_worker_that_takes_the_place_of_a_lost_one():
    cluster = Cluster("a", "b", good=("b", "c"))
    cluster.ask("torch")
    cluster._fitness.update({"a": 9})

    async def replace():
        await asyncio.sleep(0.05)
        cluster._fitness.update({"a": 9, "c": 9})

    assert cluster.ask("torch", "torch", meanwhile=replace) == ["c", "c"]


def test_calls_do_not_wait_for_ever_for_such_a_worker():
    cluster = Cluster("a", "b", good=("b",))
    cluster.ask("torch")
    cluster._fitness.update({"a": 9})
    for _ in range(2):
        with pytest.raises(UnbuiltError):
            cluster.ask("torch")


def test_each_loss_has_a_wait_of_its_own():
    """One that is over says nothing of the next one."""
    workers = fitness.Fitness("here")
    workers.update({"a": 1})
    workers.note_refusal("torch", "a", "no wheel")
    assert workers.capacity("torch") == 0
    time.sleep(0.03)
    assert workers.capacity("torch") == 1
    workers.update({"b": 1})
    assert workers.capacity("torch") == 1
    workers.note_refusal("torch", "b", "no wheel")
    assert workers.capacity("torch") == 0


def test_a_worker_that_comes_back_is_asked_again():
    cluster = Cluster("a", "b", good=("b",))
    cluster.ask("torch")
    cluster._fitness.update({"b": 9})
    cluster._fitness.update({"a": 9, "b": 9})
    cluster.good = ("a", "b")
    assert cluster.ask("torch") == ["a"]


def test_a_worker_gets_no_more_calls_than_it_has_threads():
    """Calls that wait may go to a worker that comes later."""
    cluster = Cluster("a", "b", good=("b",), threads=1)
    cluster.ask("torch")
    cluster.most_busy = 0
    assert cluster.ask(*["torch"] * 5) == ["b"] * 5
    assert cluster.most_busy == 1


def test_workers_that_leave_end_the_wait_for_them():
    cluster = Cluster("a", "b", good=("b",))

    async def wait():
        never = asyncio.get_running_loop().create_future()
        cluster._fitness.update({"a": 9})
        await cluster._ended(never, ["b"])

    with pytest.raises(client._Gone):
        asyncio.run(wait())


def test_a_result_that_came_counts_though_its_worker_has_left(monkeypatch):
    cluster = Cluster("a", "b")
    cluster._fitness.update({"a": 9})

    async def wait():
        done = asyncio.get_running_loop().create_future()
        done.set_result(b"result")
        return await cluster._ended(done, ["b"])

    assert asyncio.run(wait()) == b"result"


def test_calls_that_waited_get_no_more_of_a_late_worker_than_it_has_threads():
    """Else its loss would count for calls that never began, and workers that come later stay idle."""
    cluster = Cluster("a", "b", good=("b", "c", "d"), threads=1)
    cluster.ask("torch")
    cluster._changed, cluster.most_busy = asyncio.Condition(), 0
    cluster._fitness.update({"a": 9})

    async def replace():
        await asyncio.sleep(0.05)
        cluster._fitness.update({"a": 9, "c": 1})
        await asyncio.sleep(0.05)
        cluster._fitness.update({"a": 9, "d": 1})

    assert set(cluster.ask(*["torch"] * 4, meanwhile=replace)) <= {"c", "d"}
    assert cluster.most_busy == 1


def test_a_call_that_waits_for_a_worker_keeps_no_thread():
    cluster = Cluster("a", "b", good=("b",))
    cluster.ask("torch")
    cluster._changed = asyncio.Condition()
    cluster._fitness.update({"a": 1})
    cluster._threads, cluster.good, cluster.asked = 1, ("a",), []
    blocked = []

    async def look():
        await asyncio.sleep(0.05)
        blocked.append((cluster.blocked, len(cluster.asked)))

    assert cluster.ask("torch", "jax", meanwhile=look) == ["a", "a"]
    assert blocked == [(1, 1)], "one waits, the other one is done"
    assert cluster.blocked == 0


def test_a_worker_that_is_lost_with_the_first_call_is_waited_for():
    workers = fitness.Fitness("here")
    workers.update({"a": 1, "b": 1})
    workers.note_refusal("torch", "a", "no wheel")
    workers.note_loss("torch")
    workers.update({"a": 1})
    assert workers.capacity("torch") == 0
    time.sleep(0.04)
    assert workers.capacity("torch") == 0, "longer than the wait for what was never done"


def test_a_call_that_loses_its_only_fit_worker_waits_until_it_is_back():
    cluster = Cluster("a", "b", good=("b",), lost=1)
    cluster._fitness.note_refusal("torch", "a", "no wheel")

    async def lose():
        cluster._fitness.update({"a": 9})
        await asyncio.sleep(0.08)
        cluster._fitness.update({"a": 9, "b": 9})

    assert cluster.ask("torch", meanwhile=lose) == ["b"]


def test_a_worker_that_does_it_after_all_is_fit_again():
    workers = fitness.Fitness("here")
    workers.update({"a": 2})
    workers.note_refusal("torch", "a", "no network")
    assert workers.select("torch", (), 1) == []
    workers.note_success("torch", [])
    assert workers.select("torch", (), 1) is None
    assert workers.capacity("torch") == 2


def test_another_machine_is_preferred_only_while_it_has_threads():
    workers = fitness.Fitness("here")
    workers.update({"h1:1": 4, "h1:2": 4, "h2:1": 1})
    workers.note_refusal("torch", "h1:1", "no wheel")
    assert workers.select("torch", {"h1:1"}, busy=1) == ["h2:1"]
    assert workers.select("torch", {"h1:1"}, busy=2) == ["h1:2", "h2:1"]


def test_what_is_known_of_an_environment_holds_under_its_other_name():
    workers = fitness.Fitness("here")
    workers.update({"a": 1, "b": 1})
    workers.note_refusal("toy", "a", "no wheel")
    workers.note_success("toy", ["b"])
    workers.note_name("toy", "own")
    assert workers.select("own", (), 1) == ["b"]
    workers.update({"a": 1})
    time.sleep(0.04)
    assert workers.capacity("own") == 0, "it was done before"


def test_calls_that_wait_for_a_worker_take_no_slot():
    class Blocked:
        threads, blocked = 2, 0

    cluster: Any = Blocked
    slots = ClusterSlots(cluster)
    assert slots.take(Need())
    assert slots.take(Need())
    assert slots.take(Need()) is None
    Blocked.blocked = 1
    assert slots.take(Need())
    assert slots.take(Need()) is None
