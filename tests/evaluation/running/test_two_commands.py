"""Two evaluations in one results folder: each check is done once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from support.evaluating import evaluate, score

from evaluation.running import execute


def test_what_another_command_is_checking_is_left_to_it(toy, make, monkeypatch, tmp_path):
    directory = make("right")
    evaluate(toy, make("never"), results=tmp_path / "shared")
    done, lock, do_check = [], threading.Lock(), execute.do_check
    monkeypatch.setattr("runner.execution.scheduler.AGAIN_S", 0.1)

    def slowly(check, report):
        with lock:
            done.append(check.label)
        time.sleep(0.5)
        return do_check(check, report)

    monkeypatch.setattr(execute, "do_check", slowly)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(evaluate, toy, directory, results=tmp_path / "shared") for _ in "ab"]
        first, second = [result.result() for result in both]
    assert len(done) == len(set(done)) == len(first.checks) == len(second.checks)
    assert score(first).paired.tolist() == score(second).paired.tolist() == [1]


def test_force_checks_again_what_has_an_answer(toy, make, monkeypatch, tmp_path):
    directory = make("never")
    evaluate(toy, directory, results=tmp_path / "shared")
    done, do_check = [], execute.do_check

    def counted(check, report):
        done.append(check.label)
        return do_check(check, report)

    monkeypatch.setattr(execute, "do_check", counted)
    result = evaluate(toy, directory, results=tmp_path / "shared", force=True)
    assert len(done) == len(result.checks)
