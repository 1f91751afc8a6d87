"""The launcher's report: what counts as broken, as advice and as a failure."""

import pytest

from evaluation.watching.report import FAILED, WatchedAlarm, WatchReport


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
