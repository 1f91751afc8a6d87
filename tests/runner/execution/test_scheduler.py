"""The order of jobs, what happens to those that somebody else does, and to the others when one
fails.
"""

import io
import os
import threading
import time
from concurrent.futures import Future

import pytest

from runner.execution import scheduler as module
from runner.execution.local import LocalPool, StoppedError
from runner.execution.resources import Need, Slots
from runner.execution.scheduler import BusyError, Job, longest_first, schedule
from runner.progress.board import Board, Pace, TaskRow, table
from runner.progress.lines import Progress

ONE, TWO = Need(), Need(slots=2)


def job(name, seconds=None, need=ONE):
    return Job(name, need, seconds, name)


def at_once(job, share):
    future = Future()
    future.set_result(job.item.upper())
    return future


def nothing(running, waiting):
    pass


class Screen(io.StringIO):
    def isatty(self):
        return True


class Silent(Progress):
    def __init__(self):
        super().__init__(io.StringIO())

    def line(self, text):
        pass

    def status(self, text):
        text()


def test_results_come_with_their_jobs():
    jobs = [job(name) for name in "abc"]
    assert [(done.name, result) for done, result in schedule(jobs, Slots(2), at_once, nothing)] == [
        ("a", "A"),
        ("b", "B"),
        ("c", "C"),
    ]


def test_the_longest_first_and_before_them_what_nobody_knows_and_what_needs_more():
    jobs = [job("short", 1), job("long", 9), job("two", 2, TWO), job("unknown")]
    assert [item.name for item in longest_first(jobs)] == ["two", "unknown", "long", "short"]
    started = []
    pool = LocalPool(Slots(2), Silent())
    list(pool.do(jobs, lambda item, share, report: started.append(item)))
    assert started[0] == "two"
    assert set(started) == {"short", "long", "two", "unknown"}


def test_one_at_a_time_keeps_the_order():
    started = []
    list(
        LocalPool(Slots(1), Silent()).do(
            [job("b", 1), job("a", 2)], lambda item, share, report: started.append(item)
        )
    )
    assert started == ["b", "a"]


def test_no_more_run_than_there_are_slots():
    running, most, lock = set(), [], threading.Lock()

    def work(item, share, report):
        with lock:
            running.add(item)
            most.append((len(running), len(share.slots)))
        time.sleep(0.01)
        with lock:
            running.discard(item)

    jobs = [job(str(number), need=TWO if number < 3 else ONE) for number in range(20)]
    list(LocalPool(Slots(3), Silent()).do(jobs, work))
    assert max(count for count, _ in most) == 3
    assert len(most) == 20
    assert all(count <= 2 for count, slots in most[:2] if slots == 2)


def test_what_another_program_does_is_asked_for_again(monkeypatch):
    monkeypatch.setattr(module, "AGAIN_S", 0.05)
    submitted = []

    def work(item, share, report):
        submitted.append(item)
        if item == "busy" and submitted.count("busy") < 3:
            raise BusyError
        return item

    done = [item for item, _ in LocalPool(Slots(1), Silent()).do([job("busy"), job("free")], work)]
    assert done == ["free", "busy"]
    assert submitted.count("busy") == 3
    assert submitted.count("free") == 1


def test_the_first_error_stops_the_others():
    stopped, began = [], threading.Event()

    def work(item, share, report):
        if item == "bad":
            assert began.wait(10)
            raise ZeroDivisionError
        began.set()
        try:
            while True:
                report(str)
                time.sleep(0.005)
        except StoppedError:
            stopped.append(item)
            raise

    start = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        list(LocalPool(Slots(2), Silent()).do([job("endless"), job("bad"), job("never")], work))
    assert stopped == ["endless"]
    assert time.monotonic() - start < 5


def test_a_consumer_that_stops_stops_the_work():
    stopped = []

    def work(item, share, report):
        try:
            while item == "endless":
                report(str)
                time.sleep(0.005)
        except StoppedError:
            stopped.append(item)
            raise

    work_on = LocalPool(Slots(2), Silent()).do([job("endless"), job("quick")], work)
    assert next(work_on)[0] == "quick"
    work_on.close()
    assert stopped == ["endless"]


def test_time_left_is_measured_in_what_things_take_here():
    pace = Pace()
    pace.count(4.0, 2.0)
    pace.count(2.0, None)
    assert pace.of(10.0) == 20.0
    assert pace.of(None) == 3.0
    assert Pace().of(None) == 0.0


def test_time_left_is_known_before_anything_has_ended(monkeypatch):
    def remaining(*expected):
        first, *waiting_jobs = (
            job(str(number), seconds) for number, seconds in enumerate(expected)
        )
        monkeypatch.setenv("COLUMNS", "80")
        screen = Screen()
        board = Board(Progress(screen), len(expected), lambda: 2)
        board.begin(first)
        board.look([first], waiting_jobs)
        return screen.getvalue().splitlines()[0]

    assert remaining(30.0, 20.0, 10.0) == "0 of 3 done, 1 running, about 30 s left"
    assert remaining(30.0, 20.0, None) == "0 of 3 done, 1 running"
    assert remaining(None, 20.0) == "0 of 2 done, 1 running"


def test_quiet_progress_writes_notes_only():
    screen = Screen()
    progress = Progress(screen, quiet=True)
    progress.line("a line")
    progress.status(lambda: "a status")
    progress.note("a note")
    assert screen.getvalue() == "a note\n"


def test_the_table_says_what_runs():
    rows = [TaskRow("a", 7.0, lambda: "3 records", time.monotonic() - 100), TaskRow("b", None)]
    assert table(5, 20, rows, 7000.0).splitlines() == [
        "5 of 20 done, 2 running, about 1.9 h left",
        "  a  2 min of 7 s  3 records",
        "  b  0 s",
    ]
    assert (
        table(0, 30, [TaskRow(str(n), None) for n in range(15)], None).splitlines()[-1]
        == "  … and 3 more"
    )


def test_jobs_run_on_the_cores_of_their_slots():
    cores, both = sorted(os.sched_getaffinity(0)), threading.Barrier(2, timeout=10)

    def work(item, share, report):
        both.wait()
        return tuple(sorted(os.sched_getaffinity(0)))

    slots = Slots(2, cores=[cores[0], cores[-1]])
    places = [where for _, where in LocalPool(slots, Silent()).do([job("a"), job("b")], work)]
    assert sorted(places) == [(cores[0],), (cores[-1],)]
    assert sorted(os.sched_getaffinity(0)) == cores


def test_rows_are_cut_to_the_width_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Screen()
    progress = Progress(terminal)
    progress.status(lambda: "x" * 100 + "\n" + "y" * 100)
    progress.line("z")
    assert terminal.getvalue() == "x" * 19 + "\n" + "y" * 19 + "\r\x1b[1A\x1b[J" + "z\n"
