"""Scores of public, perturbed and planted programs side by side, counted by hand."""

from msgspec.structs import replace
from support.checks import HIT, record

from evaluation.model import Rule
from evaluation.scoring.rewritten import rows, side_by_side
from evaluation.store import Evaluated


def pair(case, alarms=(HIT,), bug="B", **changes):
    both = (record(case=case, alarms=alarms), record("fixed", case))
    return [replace(each, bug=bug, **changes) for each in both]


def table(*checks):
    rules = {each.detector: {"default": Rule()} for each in checks}
    return side_by_side(Evaluated(checks, (), rules))


def test_kinds_of_programs_are_counted_apart():
    checks = [
        *pair("one"), *pair("two"), *pair("three", ()),
        *pair("one", (), perturb=1), *pair("one", perturb=2), *pair("two", (), perturb=1),
        *pair("no-step", bug="planted-B", plant=1), *pair("no-step", (), bug="planted-C", plant=1),
        *pair("no-step", (), bug="planted-B", plant=2),
    ]  # fmt: skip
    row = table(*checks).iloc[0]
    # Three was not met perturbed; one was, twice.
    assert (row.public_detected, row.public_detected_n) == (2, 2)
    assert (row.perturbed_detected, row.perturbed_detected_n, row.perturbed_paired) == (1, 3, 1)
    assert (row.planted_detected, row.planted_detected_n) == (1, 3)
    assert rows(table(*checks))[1] == ["d", "2/2", "34-100", "2/2", "1/3", "6-79", "1/3", "1/3", "6-79", "1/3"]


def test_without_perturbed_programs_all_public_ones_count():
    found = table(*pair("one"), *pair("two", ()), *pair("no-step", bug="planted-B", plant=1))
    assert found.iloc[0].public_detected_n == 2
    assert rows(found)[1] == ["d", "1/2", "9-91", "1/2", "-", "-", "-", "1/1", "21-100", "1/1"]


def test_each_detector_by_what_it_met():
    other = [replace(each, detector="e") for each in (*pair("one"), *pair("two"))]
    found = table(*pair("one"), *pair("two"), *pair("one", (), perturb=1), *other)
    assert [line[:2] + line[4:5] for line in rows(found)[1:]] == [["d", "1/1", "0/1"], ["e", "2/2", "-"]]


def test_controls_and_benign_cases_are_in_no_column():
    benign = [replace(each, benign=True) for each in (*pair("one"), *pair("one", perturb=1))]
    found = table(*pair("two"), *pair("two", (), perturb=1), *benign, record("control", "gan", [HIT], perturb=1))
    assert rows(found)[1][1:5] == ["1/1", "21-100", "1/1", "0/1"]
