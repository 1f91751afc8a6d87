"""Parts of records of evaluations, and their scores."""

import pytest
from msgspec.structs import replace
from support.checks import HIT, overhead, record, with_changes
from support.detectors import write_detector

import trainbugs
from evaluation.catalog.declared import DeclaredPrograms
from evaluation.catalog.detectors import read
from evaluation.model import Rule
from evaluation.reading.subsets import (
    own_before_committed,
    select_bugs,
    select_common,
    select_counted,
    select_isolated,
)
from evaluation.records import REPLACED, UNCOUNTED, Records
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from evaluation.store.results import CheckStore
from runner.errors import UsageError

ANY, STRICT = {"default": Rule()}, {"default": Rule("error")}


def evaluated(*checks, rules=None, overheads=()):
    return Records(checks, overheads, rules or {check.detector: ANY for check in checks})


def pair(detector="d", bug="B", case="one", alarms=(HIT,)):
    both = (record(case=case, alarms=alarms), record("fixed", case))
    return [replace(check, detector=detector, bug=bug) for check in both]


def programs(records):
    return [(check.detector, check.kind, f"{check.bug}/{check.case}") for check in records.checks]


def test_scores_of_some_bugs_have_all_columns():
    control, failed = (
        record("control", "gan", [HIT]),
        record("fixed", "two", [HIT], detector="d", bug="C"),
    )
    records = evaluated(
        *pair(), *pair(bug="C", case="two")[:1], failed, *pair(bug="C", alarms=()), control
    )
    row = scores(outcomes(select_bugs(records, {"C"}).checks, records.rules)).iloc[0]
    assert row.detected == 1
    assert row.detected_n == 2
    assert row.paired == 0
    assert row.false_fixed == 1
    assert row.false_fixed_n == 2
    assert row.false_controls == 1
    assert row.false_controls_n == 1
    assert round(row.detected_high, 3) == 0.945
    assert [name for _, _, name in programs(select_bugs(records, {"C/one", "D"}))] == [
        "C/one",
        "C/one",
        "control/gan",
    ]


def test_own_records_win_for_the_detectors_that_have_some():
    timed = overhead((1.0,), (2.0,))
    local = evaluated(*pair("mine"), *pair("old", alarms=()), rules={"mine": ANY, "old": STRICT})
    committed = evaluated(
        *pair("old"), *pair("old", case="two"), *pair("other"),
        overheads=[replace(timed, detector=name) for name in ("old", "other")],
    )  # fmt: skip
    both = own_before_committed(local, committed)
    expected = [
        (name, kind, "B/one") for name in ("mine", "old", "other") for kind in ("buggy", "fixed")
    ]
    assert programs(both) == expected
    assert both.excluded_detectors(REPLACED) == ("old",)
    assert both.rules == {"mine": ANY, "old": STRICT, "other": ANY}
    assert [timing.detector for timing in both.overheads] == ["other"]
    assert own_before_committed(local, evaluated(*pair("other"))).excluded_detectors(REPLACED) == ()


def test_common_programs_are_those_that_all_were_shown():
    learns = [
        replace(check, references=references)
        for references in ("same", "cross")
        for check in pair("learns")
    ]
    records = evaluated(
        *pair("a"), *pair("a", case="two"), record("control", "gan", detector="a"), *learns
    )
    expected = [
        (name, kind, "B/one") for name in ("a", "learns", "learns") for kind in ("buggy", "fixed")
    ]
    assert programs(select_common(records)) == expected
    incomplete = evaluated(*records.checks[:-1])
    assert [kind for _, kind, _ in programs(select_common(incomplete))] == ["buggy"] * 3


def test_cases_that_do_not_count_are_left_out_unless_they_are_named():
    declared = DeclaredPrograms(uncounted={"C/one": "retired", "E/one": "injected"})
    records = evaluated(*pair(), *pair(bug="C"), *pair(bug="E"), record("control", "gan"))
    counted = select_counted(records, declared)
    assert {check.bug for check in counted.checks} == {"B", "control"}
    assert counted.excluded_count(UNCOUNTED) == 4
    named = select_counted(records, declared, {"C"})
    assert {check.bug for check in named.checks} == {"B", "C", "control"}
    assert select_counted(records, DeclaredPrograms()) is records


@pytest.mark.parametrize(
    "kind, counts",
    [("namespaces+landlock", True), ("namespaces", True), ("landlock", False), (None, False)],
)
def test_strong_isolation_can_be_demanded(kind, counts):
    checks = [with_changes(check, isolation=kind) for check in pair()]
    records = evaluated(
        *checks,
        *[with_changes(check, detector="other", isolation="namespaces") for check in pair()],
    )
    assert {check.detector for check in select_isolated(records).checks} == (
        {"d", "other"} if counts else {"other"}
    )


def test_no_record_of_strong_isolation_is_a_usage_error(tmp_path):
    store = CheckStore(tmp_path / "detectors")
    store.save_detector(read(write_detector(tmp_path / "d", "")))
    for check in pair():
        store.save(with_changes(check, isolation="landlock"))
    with pytest.raises(
        UsageError, match="no record of results was made in namespaces: evaluate anew on a machine"
    ):
        trainbugs.scores("results", "d", folder=tmp_path, isolated=True)
