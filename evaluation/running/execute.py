"""Checks of a campaign, done: finished ones are found, the others are made here,
or by the workers of a cluster.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from evaluation.records import CheckRecord
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.detector_run import reference_keys
from evaluation.running.recording import do_check
from runner.execution.local import Report
from runner.execution.resources import Share
from runner.execution.scheduler import BusyError, Job
from runner.session.session import Session

RecordByCheck = Mapping[DetectorCheck, CheckRecord]
# The record of a check that was done before; None where there is none that counts.
Find = Callable[[DetectorCheck], CheckRecord | None]


def execute_checks(
    checks: Sequence[DetectorCheck],
    finished: RecordByCheck,
    session: Session,
    find: Find,
) -> RecordByCheck:
    """The records of all checks, which are saved; `finished` ones are not done again.

    What another command is doing in the same results folder is waited for, and `find` gets its
    record. Checks that workers of a cluster do are not shared in this way.
    """
    jobs = [_job(check) for check in checks if check not in finished]
    records = dict(finished)
    with closing(_do_jobs(jobs, session, find)) as results:
        for number, (check, record) in enumerate(results, 1):
            records[check] = record
            _say(session, record, f"[{number}/{len(jobs)}] {check.label}: {_describe_end(record)}")
    return records


def find_record(check: DetectorCheck, force: bool, committed: bool = False) -> CheckRecord | None:
    """The record of a check that was done before; None with `force`.

    With `committed` a record of a detector that was not committed counts as none.
    """
    if force:
        return None
    record = check.detector_run.settings.store.find(check.blank_record())
    return None if record and committed and _is_dirty(record) else record


def find_finished(checks: Sequence[DetectorCheck], session: Session, find: Find) -> RecordByCheck:
    """The records of checks that were done before."""
    finished = {}
    for check in checks:
        record = find(check)
        if record:
            finished[check] = record
            end = "" if _is_answer(record) else f", {record.status}: {record.reason}"
            _say(session, record, f"{check.label}: done before{end}")
    return finished


def _is_answer(record: CheckRecord) -> bool:
    """Whether the check ended as a check may."""
    return record.status in ("ok", "unsupported")


def _say(session: Session, record: CheckRecord, line: str) -> None:
    """Say how a check ended; what is no answer is said with `--quiet`, too."""
    say = session.progress.line if _is_answer(record) else session.progress.note
    say(line)


def _is_dirty(record: CheckRecord) -> bool:
    """Whether the detector was not committed as it was."""
    return (record.revision or "-dirty").endswith("-dirty")


def _job(check: DetectorCheck) -> Job[DetectorCheck]:
    program, baseline = check.program, check.program.baseline
    label = f"{check.detector_run.label} on {program.run.name}"
    return Job(label, program.run.need, baseline.seconds if baseline else None, check)


def _do_jobs(
    jobs: Sequence[Job[DetectorCheck]], session: Session, find: Find
) -> Generator[tuple[DetectorCheck, CheckRecord], None, None]:
    """Yields each check with its record, as they end."""
    if session.remote is None:
        return session.pool.do(jobs, partial(_do_here, session, find))
    # Not needed, and not installed, where there is no cluster.
    from evaluation.running.remote import Remote

    return Remote(*session.remote, session.progress).do(jobs)


def _do_here(
    session: Session, find: Find, check: DetectorCheck, share: Share, report: Report
) -> CheckRecord:
    run = replace(check.program.run, gpu=share.gpu)
    check = replace(check, program=check.program.with_run(run))
    store = check.detector_run.settings.store
    with session.store.scratch.claim(store.place(check.blank_record())) as is_ours:
        if not is_ours:
            report(lambda: "another trainbugs is doing it")
            raise BusyError
        # Another trainbugs may have finished it since the first look.
        return find(check) or _do_in_turn(check, report)


def _do_in_turn(check: DetectorCheck, report: Report) -> CheckRecord:
    with check.detector_run.turn(reference_keys(check.references)) as is_free:
        if not is_free:
            raise BusyError
        return do_check(check, report)


def _describe_end(record: CheckRecord) -> str:
    """How a check ended, for the user."""
    seconds = f"{record.seconds.check:.1f} s"
    if record.status != "ok":
        return f"{record.status}: {record.reason}, {seconds}"
    count = len(record.alarms) + record.dropped
    plural = "" if count == 1 else "s"
    iterations = [alarm.iteration for alarm in record.alarms if alarm.iteration is not None]
    first = f", first at iteration {min(iterations)}" if iterations else ""
    return f"{count} alarm{plural}{first}, {seconds}"
