"""Records of an older code of a detector do not count beside records of a newer one."""

from support.checks import record

from evaluation.reading.codes import (
    count_excluded,
    newest_checks,
    newest_records,
    same_code_checks,
)
from evaluation.records import OLDER_CODE, Excluded, Records

OLD, NEW = "0" * 64, "1" * 64
EARLIER, LATER = "2026-11-01T00:00:00", "2026-11-02T00:00:00"


def check(detector="d", code=NEW, started=LATER, **changes):
    return record(detector=detector, code=code, started=started, **changes)


def test_the_code_that_made_the_last_record_is_the_newest():
    late = check(case="one")
    old = check(case="two", code=OLD, started=EARLIER)
    assert newest_checks([old, late]) == [late]
    also_new = check(case="three", started=EARLIER)
    assert newest_checks([old, late, also_new]) == [late, also_new]


def test_each_detector_has_a_newest_code_of_its_own():
    mine = check("mine", OLD, EARLIER)
    other = check("other", NEW, LATER)
    assert newest_checks([mine, other]) == [mine, other]


def test_without_a_digest_the_version_and_the_kit_are_the_code():
    old = check(code=None, started=EARLIER, kit=OLD)
    late = check(code=None, kit=NEW)
    assert newest_checks([old, late]) == [late]
    assert newest_checks([check(code=None, started=EARLIER, kit=NEW), late])[1] == late


def test_what_is_left_out_is_counted_by_detector():
    old = [check(case=case, code=OLD, started=EARLIER) for case in ("one", "two")]
    late = check(case="three")
    records = newest_records(Records([*old, late], (), {}))
    assert records.checks == [late]
    assert records.excluded == (Excluded(OLDER_CODE, "d", 2),)
    assert count_excluded(OLDER_CODE, [late], [late]) == []


def test_rewritten_programs_count_by_the_code_of_published_ones():
    published = check(started=EARLIER, code=OLD)
    same = check(code=OLD, perturb=1)
    newer = check(code=NEW, perturb=1, case="two")
    assert same_code_checks([published], [same, newer]) == [published, same]
    older = check(code=OLD, perturb=1, started=EARLIER)
    assert same_code_checks([], [older, newer]) == [newer]
