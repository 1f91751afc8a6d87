"""Many checks at a time: the same records, things made once, and who waits for whom."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from support.evaluating import evaluate

from evaluation.catalog import detectors
from evaluation.running.adapter import Adapter
from evaluation.running.bare_runs import Once
from evaluation.running.detector_run import DetectorRun


def without_times(records):
    return [replace(record, seconds=None, started="") for record in records]


def test_many_checks_at_a_time_give_the_same_records(toy, make, tmp_path, monkeypatch):
    learnt, prepare = [], Adapter.prepare

    def counted(*arguments):
        learnt.append(1)
        return prepare(*arguments)

    monkeypatch.setattr(Adapter, "prepare", counted)
    slow = "main(lambda target, state: {}, lambda references, state: time.sleep(0.1))"
    kinds = make("always"), make("right"), make("crashes"), make("learns", slow)
    serial = evaluate(toy, *kinds, seeds=(0, 1))
    parallel = evaluate(toy, *kinds, seeds=(0, 1), jobs=4, results=tmp_path / "parallel")
    assert without_times(parallel.checks) == without_times(serial.checks)
    assert len(serial.checks) == 16
    assert len(learnt) == 2, "once for all programs, each time"


def test_checks_run_at_the_same_time_and_are_found_again(toy, make, monkeypatch):
    together, check = threading.Barrier(4), Adapter.check

    def meet(*arguments):
        together.wait(timeout=20)
        return check(*arguments)

    monkeypatch.setattr(Adapter, "check", meet)
    result = evaluate(toy, make("never"), seeds=(0, 1), jobs=4)
    assert [record.status for record in result.checks] == ["ok"] * 4
    assert evaluate(toy, make("never"), seeds=(0, 1), jobs=4).checks == result.checks


def test_a_check_has_started_before_it_is_answered(toy, make, monkeypatch):
    answer, answered = DetectorRun.answer, []

    def count(*arguments):
        answered.append(answer(*arguments))
        return answered[-1]

    clock = SimpleNamespace(
        now=lambda zone: datetime(2026, 1, 1, second=len(answered), tzinfo=zone)
    )
    monkeypatch.setattr(DetectorRun, "answer", count)
    monkeypatch.setattr("evaluation.running.detector_check.datetime", clock)
    started = {record.started for record in evaluate(toy, make("never")).checks}
    assert started == {"2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00"}


def test_something_is_made_once_though_many_ask():
    once, calls, start = Once(), [], threading.Barrier(8)

    def make():
        time.sleep(0.05)
        calls.append(1)
        return len(calls)

    def ask():
        start.wait()
        return once.get("key", make)

    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(ask) for _ in range(8)]
        assert {answer.result() for answer in answers} == {1}
        assert len(calls) == 1
    with pytest.raises(ZeroDivisionError):
        once.get("other", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        once.get("other", lambda: 1)


def test_checks_that_would_wait_for_one_that_learns_take_no_share_of_the_machine(
    toy, make, monkeypatch
):
    begun, at_the_end_of_learning = [], []
    answer, prepare = DetectorRun.answer, Adapter.prepare

    def begin(detector_run, program, *arguments):
        begun.append(program)
        return answer(detector_run, program, *arguments)

    def learn(*arguments):
        learnt = prepare(*arguments)
        time.sleep(0.5)
        at_the_end_of_learning.append(len(begun))
        return learnt

    monkeypatch.setattr(DetectorRun, "answer", begin)
    monkeypatch.setattr(Adapter, "prepare", learn)
    monkeypatch.setattr("runner.execution.scheduler.AGAIN_S", 0.05)
    result = evaluate(toy, make("learns"), seeds=(0, 1), jobs=4)
    assert [record.status for record in result.checks] == ["ok"] * 4
    assert at_the_end_of_learning == [1]


def test_who_is_about_to_learn_has_the_turn_until_it_has_learnt_or_failed(toy, make):
    detector_run = DetectorRun(detectors.load(toy.root, str(make("learns"))), "same", None, None)
    keys = ("a", "b")
    with (
        detector_run.turn(keys) as first,
        detector_run.turn(keys) as second,
        detector_run.turn(("c",)) as third,
    ):
        assert first is True
        assert second is False
        assert third is True
    with (
        detector_run.turn(keys) as first,
        detector_run.turn(()) as second,
        detector_run.turn(()) as third,
    ):
        assert first is True
        assert second is True
        assert third is True
        detector_run._lessons.get(keys, lambda: None)
        with detector_run.turn(keys) as fourth:
            assert fourth
