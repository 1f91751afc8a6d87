"""Shares of the machine: what fits at a time, which cores and GPUs, and that children inherit
them.
"""

import os
import subprocess
import sys
import threading

import pytest

from runner.execution.resources import Need, Share, Slots, pin

PLAIN = Need()


def test_one_job_at_a_time_has_the_whole_machine():
    slots = Slots(1)
    share = slots.take(Need(slots=2, memory_gb=10_000))
    assert share.cores == ()
    assert slots.take(PLAIN) is None
    slots.give(share)
    assert slots.take(PLAIN)


@pytest.mark.parametrize(
    "jobs, cores, expected",
    [
        (2, [0, 1], [(0,), (1,)]),
        (2, [3, 5, 7, 9, 11], [(3, 5), (7, 9, 11)]),
        (4, [0, 1], [(0,), (1,), (0,), (1,)]),
        (3, [0], [(0,), (0,), (0,)]),
    ],
)
def test_cores_are_dealt_among_slots(jobs, cores, expected):
    slots = Slots(jobs, cores=cores)
    assert [slots.take(PLAIN).cores for _ in range(jobs)] == expected
    assert slots.take(PLAIN) is None


def test_a_slot_is_given_again_when_it_is_back():
    slots = Slots(2, cores=[0, 1])
    first, second = slots.take(PLAIN), slots.take(PLAIN)
    slots.give(first)
    assert slots.take(PLAIN) == first
    slots.give(second)
    assert slots.take(PLAIN) == second


def test_two_processes_take_two_slots():
    slots = Slots(3, cores=[0, 1, 2, 3, 4, 5])
    both = slots.take(Need(slots=2))
    assert both.slots == (0, 1)
    assert both.cores == (0, 1, 2, 3)
    assert slots.take(Need(slots=2)) is None
    assert slots.take(PLAIN).cores == (4, 5)


def test_memory_is_not_given_twice_and_what_never_fits_runs_alone():
    slots = Slots(3, memory_gb=10)
    six = slots.take(Need(memory_gb=6))
    assert slots.take(Need(memory_gb=6)) is None
    four = slots.take(Need(memory_gb=4))
    assert slots.take(Need(memory_gb=0.1)) is None
    assert slots.take(PLAIN)
    slots = Slots(3, memory_gb=10)
    huge = slots.take(Need(memory_gb=100))
    assert huge
    assert slots.take(Need(memory_gb=1)) is None
    slots.give(huge)
    assert slots.take(Need(memory_gb=1))
    assert slots.take(Need(memory_gb=100)) is None
    assert six
    assert four
    assert 0.1 < Slots(1).memory_gb < 100_000


def test_each_gpu_has_as_many_jobs_as_it_may():
    gpu = Need(gpu=True)
    slots = Slots(8, gpus=[0, 2], per_gpu=2)
    shares = [slots.take(gpu) for _ in range(4)]
    assert [share.gpu for share in shares] == [0, 2, 0, 2]
    assert slots.take(gpu) is None
    assert slots.take(PLAIN).gpu is None
    slots.give(shares[1])
    assert slots.take(gpu).gpu == 2
    assert Slots(2).take(gpu).gpu is None, "without a list nothing is said of which one"


def test_what_a_pinned_thread_starts_is_pinned_and_nothing_else():
    before, core = os.sched_getaffinity(0), min(os.sched_getaffinity(0))
    program, cores_seen = [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], []

    def work():
        pin(Share(PLAIN, (0,), (core,)))
        cores_seen.append(
            subprocess.run(program, capture_output=True, text=True, check=True).stdout.strip()
        )

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert cores_seen == [f"{{{core}}}"]
    assert os.sched_getaffinity(0) == before
