"""The launcher's report: what counts as broken, as advice and as a failure."""

import pytest
from support.paths import ROOT

from evaluation.watching.cures import CURES, CURES_BY_MESSAGE, cure_of
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


def test_the_cure_is_of_what_was_seen():
    """An invariant with several messages has several cures."""
    workers = cure_of("same-batches", "all 2 workers give the same batches: each is learnt from")
    epochs = cure_of("same-batches", "two epochs in a row have the same order, though they are")
    assert workers and "worker_init_fn" in workers
    assert epochs and "set_epoch" in epochs
    assert cure_of("clip", "whatever") == CURES["clip"]
    assert cure_of("no such invariant", "whatever") is None


def test_messages_that_have_a_cure_of_their_own_are_messages_of_the_sanitizer():
    folder = ROOT / "detectors" / "sanitizer" / "sanitizer_invariants"
    sources = {path.stem: path.read_text() for path in folder.rglob("*.py")}
    for name, beginning in CURES_BY_MESSAGE:
        assert f'"{beginning} ' in sources[name.replace("-", "_")]
