"""Which workers a call goes to, if some of them cannot do it; without a scheduler."""

import asyncio
import pickle
from collections import defaultdict, deque

import pytest

from runner.cluster import client
from runner.cluster.calls import UnfitError
from runner.errors import UnbuiltError


class Cluster(client.Cluster):
    """Workers by address; `good` ones do calls. A call goes to the first one that it may go to."""

    def __init__(self, *addresses, good=(), names=None):
        self.where = "here"
        self._unfit, self._news = defaultdict(set), deque()
        self.addresses, self.good, self.names = list(addresses), good, names or {}
        self.asked, self.gone = [], 0

    async def _workers(self):
        return list(self.addresses)

    async def _performed(self, call, fit):
        await asyncio.sleep(0)
        if self.gone:
            self.gone -= 1
            raise client._Gone
        chosen = (fit or self.addresses)[0]
        self.asked.append(chosen)
        if chosen in self.good:
            return pickle.dumps((chosen, None))
        error = UnfitError("no wheel", error=UnbuiltError("could not be built"))
        error.worker = self.names.get(chosen, chosen)
        return pickle.dumps((None, error))

    def ask(self, *needs):
        """The results of calls that are made at the same time."""

        async def all_of_them():
            return await asyncio.gather(*(self._result(b"", need) for need in needs))

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
    cluster.ask("torch", "jax")
    assert sorted(cluster.asked) == ["a", "a", "b", "b"]


def test_calls_that_one_worker_refuses_at_the_same_time_are_all_done():
    cluster = Cluster("a", "b", good=("b",))
    assert cluster.ask("torch", "torch", "torch") == ["b"] * 3


def test_a_call_asks_few_workers_that_cannot_do_it():
    cluster = Cluster(*map(str, range(9)))
    with pytest.raises(UnbuiltError, match="could not be built"):
        cluster.ask("torch")
    assert len(cluster.asked) == client.MOST_ASKED


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
    cluster = Cluster("a", good=("a",))
    cluster.gone = 2
    assert cluster.ask("torch") == ["a"]
