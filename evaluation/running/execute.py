"""Checks of a campaign, done: finished ones are found, the others are made here,
or by the workers of a cluster.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from evaluation.records import CheckRecord
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.detector_run import reference_keys
from evaluation.running.recording import do_check
from runner.execution.local import Report
from runner.execution.resources import Share
from runner.execution.scheduler import BusyError, Job
from runner.session.session import Session

RecordByCheck = Mapping[DetectorCheck, CheckRecord]


def execute_checks(
    checks: Sequence[DetectorCheck], finished: RecordByCheck, session: Session
) -> RecordByCheck:
    """The records of all checks, which are saved; `finished` ones are not done again."""
    jobs = [_job(check) for check in checks if check not in finished]
    records = dict(finished)
    with closing(_do_jobs(jobs, session)) as results:
        for number, (check, record) in enumerate(results, 1):
            records[check] = record
            _say(session, record, f"[{number}/{len(jobs)}] {check.label}: {_describe_end(record)}")
    return records


def find_finished(
    checks: Sequence[DetectorCheck], session: Session, force: bool, committed: bool = False
) -> RecordByCheck:
    """The records of checks that were done before; none with `force`.

    With `committed` those of a detector that was not committed are left out, and done anew.
    """
    if force:
        return {}
    finished = {}
    for check in checks:
        record = check.detector_run.settings.store.find(check.blank_record())
        if record and not (committed and _is_dirty(record)):
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
    jobs: Sequence[Job[DetectorCheck]], session: Session
) -> Generator[tuple[DetectorCheck, CheckRecord], None, None]:
    """Yields each check with its record, as they end."""
    if session.remote is None:
        return session.pool.do(jobs, _do_here)
    # Not needed, and not installed, where there is no cluster.
    from evaluation.running.remote import Remote

    return Remote(*session.remote, session.progress).do(jobs)


def _do_here(check: DetectorCheck, share: Share, report: Report) -> CheckRecord:
    run = replace(check.program.run, gpu=share.gpu)
    check = replace(check, program=check.program.with_run(run))
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
