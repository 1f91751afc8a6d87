"""The launcher's report: what counts as broken, as advice and as a failure."""

import pytest

from evaluation.watching.in_process.text import report_text
from evaluation.watching.report import FAILED, WatchedAlarm, WatchReport
from evaluation.watching.silencing import Silencing


def alarm(code, severity, line=1):
    return WatchedAlarm(1, "train.py", line, None, None, code, f"{code} said", severity)


@pytest.fixture
def report():
    alarms = (alarm("clip", "error"), alarm("mode", "info", 2), alarm(FAILED, "info", 3))
    return WatchReport(alarms, 0, 1, 10, 1.0, None, None)


def test_an_error_is_broken(report):
    assert [item.code for item in report.broken] == ["clip"]


def test_a_failure_of_an_invariant_is_neither_broken_nor_advice(report):
    assert [item.code for item in report.advice] == ["mode"]
    assert report.failures == [f"{FAILED} said"]


def test_a_failure_that_is_an_error_is_not_broken(report):
    failed = WatchReport((alarm(FAILED, "error"),), 0, 1, 10, 1.0, None, None)
    assert failed.broken == []


def test_a_program_that_is_watched_from_inside_gets_a_hint_on_its_comments(report, tmp_path):
    (tmp_path / "train.py").write_text("step()  # trainbugs: ignore[klip, mode]\n")
    text = report_text(Silencing(report, str(tmp_path)), (), True, known=("clip", "mode"))
    assert text.splitlines()[-2] == (
        f"trainbugs: {tmp_path}/train.py:1: a comment ignores 'klip', but there is no such "
        "invariant (did you mean clip?)"
    )
