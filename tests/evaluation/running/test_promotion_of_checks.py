"""Which evaluations may be committed, and what is kept of their records."""

import json
from dataclasses import replace as replace_result

import pandas as pd
import pytest
from msgspec.structs import replace
from support.checks import with_changes
from support.evaluating import RULES, evaluate

from evaluation.catalog import controls, detectors
from evaluation.model import Alarm
from evaluation.running import detector_run
from evaluation.running.bare_runs import BareRuns
from evaluation.running.options import CampaignOptions
from evaluation.running.promote import promote_checks
from evaluation.scoring.outcomes import outcomes
from evaluation.store.committed import CommittedChecks
from runner.errors import UsageError


def test_only_clean_pinned_and_whole_evaluations_are_committed(toy, make, tmp_path):
    directory = make("always")
    result = evaluate(toy, directory)
    plan, folder = CampaignOptions([detectors.read(directory)]), tmp_path / "expected"
    to = {"always": folder}
    publishable = [with_changes(record, pinned=True, revision="0" * 40) for record in result.checks]
    for bad, words in (
        (
            replace_result(
                result, checks=tuple(with_changes(r, pinned=False) for r in publishable)
            ),
            "pinned",
        ),
        (
            replace_result(
                result, checks=tuple(replace(r, revision="0-dirty") for r in publishable)
            ),
            "not committed",
        ),
        (
            replace_result(result, checks=tuple(replace(r, revision=None) for r in publishable)),
            "not committed",
        ),
        (
            replace_result(result, checks=tuple(publishable), broken=(shown_program(toy),)),
            "does not run",
        ),
    ):
        with pytest.raises(UsageError, match=words):
            promote_checks(plan, bad, to)
        assert not folder.exists()
    gone = replace(publishable[0], case="gone")
    promote_checks(plan, replace_result(result, checks=(*publishable, gone)), to)
    assert len(CommittedChecks(folder).read().checks) == len(publishable) + 1
    (folder / "other.jsonl").write_text("of another detector")
    committed = promote_checks(plan, replace_result(result, checks=tuple(publishable[::-1])), to)[
        folder
    ].read(["always"])
    assert committed.checks == sorted(publishable, key=lambda record: record.kind)
    assert committed.rules == {"always": RULES}
    assert (folder / "other.jsonl").read_text() == "of another detector"
    assert {path.name for path in folder.iterdir()} == {"always.jsonl", "other.jsonl"}


@pytest.mark.parametrize("committed, asked_again", [(False, False), (True, True)])
def test_records_of_a_detector_that_was_not_committed_are_made_anew(
    toy, make, monkeypatch, committed, asked_again
):
    """Where committed records are wanted: then the detector is committed by now."""
    directory = make("always")
    monkeypatch.setattr(detector_run, "find_revision", lambda directory: "0-dirty")
    first = evaluate(toy, directory)
    monkeypatch.setattr(detector_run, "find_revision", lambda directory: "1")
    second = evaluate(toy, directory, committed=committed)
    assert {check.revision for check in first.checks} == {"0-dirty"}
    assert {check.revision for check in second.checks} == {"1" if asked_again else "0-dirty"}


# Of a at 7, b at 7, a at 8, b at 8, a at 9, b at 9: the rule `two` has enough with the second one,
# `b` and `four` with the fourth. Each part begins there, and has its first alarms.
COMMITTED_PLACES = [("a", 7, 1), ("b", 7, 1), ("a", 8, 1), ("b", 8, 2), ("a", 9, 1)]


def test_committed_are_the_first_alarms_of_each_kind_and_their_number(toy, make, tmp_path):
    directory, folder = make("always"), tmp_path / "expected"
    described = json.loads((directory / "detector.json").read_text())
    described["alarm_rules"] = {
        "default": {},
        "two": {"at_least": 2},
        "b": {"codes": ["b"], "at_least": 2},
        "four": {"at_least": 4},
        "seven": {"at_least": 7},
    }
    (directory / "detector.json").write_text(json.dumps(described))
    result, detector = evaluate(toy, directory), detectors.read(directory)
    alarms = tuple(
        Alarm(code, "m", "error", iteration, "f", 3)
        for code in ("a", "b")
        for iteration in (9, 8, 7)
    )
    # Two checks at a time end in either order.
    ended = sorted(result.checks, key=lambda record: record.kind)
    checks = tuple(
        with_changes(r, pinned=True, revision="0" * 40, alarms=alarms, dropped=5) for r in ended
    )
    promoted = promote_checks(
        CampaignOptions([detector]), replace_result(result, checks=checks), {"always": folder}
    )
    for committed in promoted[folder].read().checks:
        places = [(alarm.code, alarm.iteration, alarm.times) for alarm in committed.alarms]
        assert places == COMMITTED_PLACES
        assert {(alarm.message, alarm.line) for alarm in committed.alarms} == {("m", 3)}
        assert committed.dropped == 5
        satisfied = {
            name for name, rule in detector.alarm_rules.items() if rule.counted(committed.alarms)
        }
        assert satisfied == {"default", "two", "b", "four"}
    # Nothing that is scored is lost.
    rules = {"always": detector.alarm_rules}
    pd.testing.assert_frame_equal(
        outcomes(promoted[folder].read().checks, rules), outcomes(checks, rules)
    )


def test_a_committed_reason_names_no_folder_of_the_machine(toy, make, tmp_path):
    directory, folder = make("always"), tmp_path / "expected"
    result, detector = evaluate(toy, directory), detectors.read(directory)
    reason = (
        "trace ended with 139: /tmp/x-1/run.sh: line 2: 7 fault  /home/me/bin/python src/a/b.py, "
        "1/2 of 3/4"
    )
    failed = [
        with_changes(r, pinned=True, revision="0" * 40, status="tool_error", reason=reason)
        for r in result.checks
    ]
    plan = CampaignOptions([detector])
    promoted = promote_checks(
        plan, replace_result(result, checks=tuple(failed)), {"always": folder}
    )
    reasons = {check.reason for check in promoted[folder].read().checks}
    assert reasons == {
        "trace ended with 139: run.sh: line 2: 7 fault  python src/a/b.py, 1/2 of 3/4"
    }


def test_a_committed_alarm_names_no_folder_of_the_machine(toy, make, tmp_path):
    directory, folder = make("always"), tmp_path / "expected"
    result = evaluate(toy, directory)
    failed = Alarm("failed", 'Traceback:\n  File "/home/me/python/enum.py", line 7', "error")
    checks = [
        with_changes(r, pinned=True, revision="0" * 40, alarms=(failed,)) for r in result.checks
    ]
    plan = CampaignOptions([detectors.read(directory)])
    promoted = promote_checks(
        plan, replace_result(result, checks=tuple(checks)), {"always": folder}
    )
    records = promoted[folder].read().checks
    messages = {alarm.message for record in records for alarm in record.alarms}
    assert messages == {'Traceback:\n  File "enum.py", line 7'}


def shown_program(toy):
    session = toy.session()
    bare_runs = BareRuns(session, controls.load(toy.root))
    return bare_runs.programs(session.catalog.select(["Toy-1"]))[0]
