"""Answers of an evaluation that is not whole: kept, put together, brought to another machine."""

import pytest
from support.checks import HIT, overhead, record
from support.copies import replace
from support.detectors import write_detector
from support.modules import load
from support.rewritten import pair

from evaluation.catalog.detectors import read
from evaluation.keys import detector_digest
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from runner.errors import UsageError

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


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """A catalogue without controls, of which one case was drawn."""
    monkeypatch.setattr(unfinished, "ROOT", tmp_path / "nowhere")
    monkeypatch.setattr(unfinished, "drawn_cases", lambda: ["B/a"])


def whole_of(tmp_path):
    return CommittedChecks(tmp_path / "expected")


@pytest.mark.usefixtures("drawn")
def test_what_is_whole_is_promoted_and_other_answers_stay(tmp_path, detector, kept):
    whole = whole_of(tmp_path)
    checks = [*pair("a"), *pair("b"), record("upstream", "a"), record("control", "quiet")]
    kept.replace(detector, [replace(check, detector=detector.name) for check in checks], ())
    assert unfinished.promote(detector, kept, whole) == 3
    promoted = {(check.kind, check.case) for check in whole.read().checks}
    assert promoted == {("buggy", "a"), ("fixed", "a"), ("control", "quiet")}
    stays = {(check.kind, check.case) for check in kept.read().checks}
    assert stays == {("buggy", "b"), ("fixed", "b"), ("upstream", "a")}


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize(("code", "count"), [("c" * 64, 3), ("d" * 64, 2)])
def test_committed_answers_of_the_same_code_stay(tmp_path, detector, kept, code, count):
    whole = whole_of(tmp_path)
    control = replace(record("control", "quiet"), detector=detector.name, code=code)
    older = [replace(check, detector=detector.name, code=code, alarms=()) for check in pair("a")]
    whole.replace(detector, [control, *older], ())
    checks = [replace(check, detector=detector.name, code="c" * 64) for check in pair("a")]
    kept.replace(detector, checks, ())
    assert unfinished.promote(detector, kept, whole) == count
    committed = whole.read().checks
    assert len(committed) == count
    assert all(check.alarms == (HIT,) for check in committed if check.kind == "buggy")


@pytest.mark.usefixtures("drawn")
def test_the_newest_overhead_is_packed_and_promoted(tmp_path, detector, kept):
    """One of another code is left out."""
    store = stored(tmp_path, "one", detector, pair("a"))
    code = detector_digest(detector)
    first = overhead((1.0,), (2.0,))
    older = replace(first, detector=detector.name, code=code, started="2026-01-01T00:00:00+00:00")
    newer = replace(older, watched=(3.0,), started="2027-01-01T00:00:00+00:00")
    store.save(newer)
    kept.replace(detector, (), [older])
    unfinished.pack(store, detector, kept)
    assert [found.watched for found in kept.read().overheads] == [(3.0,)]
    whole = whole_of(tmp_path)
    other = replace(newer, watched=(9.0,), code="e" * 64, started="2028-01-01T00:00:00+00:00")
    whole.replace(detector, (), [other])
    unfinished.promote(detector, kept, whole)
    assert [found.watched for found in whole.read().overheads] == [(3.0,)]


@pytest.mark.usefixtures("drawn")
def test_after_the_last_answer_no_file_of_the_detector_stays(tmp_path, detector, kept):
    checks = [replace(check, detector=detector.name) for check in pair("a")]
    kept.replace(detector, checks, ())
    assert unfinished.promote(detector, kept, whole_of(tmp_path)) == 2
    assert not list(kept.root.iterdir())


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("lacking", ["buggy", "fixed"])
def test_a_part_is_not_promoted(tmp_path, detector, kept, lacking):
    checks = [replace(check, detector=detector.name) for check in pair("a")]
    kept.replace(detector, [check for check in checks if check.kind != lacking], ())
    with pytest.raises(
        UsageError, match=rf"d \(none\) has not met 1 programs, such as B/a \({lacking}"
    ):
        unfinished.promote(detector, kept, whole_of(tmp_path))
    assert not whole_of(tmp_path).root.exists()


def test_a_detector_that_has_met_no_control_is_not_promoted(tmp_path, detector, kept, monkeypatch):
    monkeypatch.setattr(unfinished, "drawn_cases", lambda: ["B/a"])
    checks = [replace(check, detector=detector.name) for check in pair("a")]
    kept.replace(detector, checks, ())
    with pytest.raises(UsageError, match=r"has not met 68 programs, such as .* \(control\)"):
        unfinished.promote(detector, kept, whole_of(tmp_path))


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
