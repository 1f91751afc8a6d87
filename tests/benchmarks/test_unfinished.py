"""Answers of an evaluation that is not whole: kept, put together, brought to another machine."""

import pytest
from support.checks import HIT
from support.copies import replace
from support.detectors import write_detector
from support.modules import load
from support.rewritten import pair

from evaluation.catalog.detectors import read
from evaluation.keys import detector_digest
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore

unfinished = load("benchmarks/unfinished.py")


@pytest.fixture
def detector(tmp_path):
    return read(write_detector(tmp_path / "d", "main(lambda target, state: {})"))


@pytest.fixture
def kept(tmp_path):
    return CommittedChecks(tmp_path / "unfinished")


def stored(tmp_path, name, detector, checks, **changes):
    store = CheckStore(tmp_path / name / "detectors")
    store.save_detector(detector)
    changes = {"code": detector_digest(detector), "revision": "0"} | changes
    for check in checks:
        store.save(replace(check, detector=detector.name, **changes))
    return store


def test_answers_of_two_folders_are_put_together_and_brought_back(tmp_path, detector, kept):
    one = stored(tmp_path, "one", detector, pair("a"))
    two = stored(tmp_path, "two", detector, pair("b"))
    assert unfinished.pack(one, detector, kept) == 2
    assert unfinished.pack(two, detector, kept) == 4
    elsewhere = stored(tmp_path, "elsewhere", detector, ())
    assert unfinished.unpack(elsewhere, detector, kept) == 4
    found = elsewhere.read([detector.name]).checks
    assert {check.case for check in found} == {"a", "b"}
    assert all(check.alarms == (HIT,) for check in found if check.kind == "buggy")


@pytest.mark.parametrize("changes", [{"code": "b" * 64}, {"revision": "0-dirty"}])
def test_answers_of_another_code_or_an_uncommitted_one_are_left_out(
    tmp_path, detector, kept, changes
):
    store = stored(tmp_path, "one", detector, pair("a"), **changes)
    assert unfinished.pack(store, detector, kept) == 0


def test_an_answer_that_is_there_stays(tmp_path, detector, kept):
    store = stored(tmp_path, "one", detector, pair("a"))
    unfinished.pack(store, detector, kept)
    other = stored(tmp_path, "two", detector, pair("a"), started="2026-01-01T00:00:00+00:00")
    unfinished.unpack(other, detector, kept)
    started = {check.started for check in other.read([detector.name]).checks}
    assert started == {"2026-01-01T00:00:00+00:00"}


def test_the_table_shows_what_the_kept_answers_say_so_far(tmp_path, detector, kept):
    store = stored(tmp_path, "one", detector, pair("a"))
    unfinished.pack(store, detector, kept)
    heading, _, row = unfinished.table([detector.name], kept).splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    columns = [cell.strip() for cell in heading.strip("|").split("|")]
    shown = dict(zip(columns[1:], cells[1:], strict=True))
    assert cells[0] == f"{detector.name} (default)"
    assert shown == {
        "DETECTED": "1/1",
        "PAIRED": "1/1",
        "PAIRED on NEW": "0/0",
        "ON FIXED": "0/1",
        "ON CONTROLS": "0/0",
    }
