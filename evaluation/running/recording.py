"""A check that is done here: its record, saved with what the detector wrote."""

from contextlib import suppress

from msgspec.structs import replace

from evaluation.model import Answer
from evaluation.records import CheckRecord, Seconds
from evaluation.running.adapter import ANSWER, Place
from evaluation.running.answers import broken_by
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.disturbance import ComparedAnswer
from runner.execution.local import Report
from runner.files import untrusted
from runner.files.trees import remove_tree
from runner.files.untrusted import UnsafeError
from runner.sandbox.streams import keep

# Size of a file that a detector names to be kept.
MAX_KEPT_BYTES = 256_000_000


def do_check(check: DetectorCheck, report: Report) -> CheckRecord:
    """The record of a check, made now, and saved with what the detector wrote.

    Where that cannot be copied, or could not be read again, the check is a tool_error.
    """
    blank = check.blank_record()
    detector_run = check.detector_run
    store = detector_run.settings.store
    with detector_run.place() as place:
        compared, seconds = detector_run.answer(check.program, check.references, place, report)
        if detector_run.is_trusted:
            blank = replace(blank, runtime=replace(blank.runtime, trusted=True))
        record = _complete(blank, compared, seconds)
        try:
            _keep_artefacts(check, record, compared.answer, place)
            store.save(record)
        except Exception as error:
            record = _complete(blank, ComparedAnswer(broken_by(error), None), seconds)
            store.save(record)
    return record


def _complete(blank: CheckRecord, compared: ComparedAnswer, seconds: Seconds) -> CheckRecord:
    answer = compared.answer
    return replace(
        blank,
        status=answer.status,
        reason=answer.reason,
        alarms=answer.alarms,
        dropped=answer.dropped,
        invariants=answer.invariants,
        seconds=seconds,
        compared=compared.compared,
    )


def _keep_artefacts(
    check: DetectorCheck, record: CheckRecord, answer: Answer, place: Place
) -> None:
    """Copy what the detector wrote, and named, to where it is kept,
    with the streams of its adapter.

    What it named and did not write there, or wrote too large, is left out.
    """
    folder = check.detector_run.settings.store.artefacts(record)
    remove_tree(folder)
    folder.mkdir(parents=True)
    for name in (*answer.artefacts, ANSWER):
        path = place.folder / name
        with suppress(UnsafeError):
            untrusted.copy(path, folder / path.name, MAX_KEPT_BYTES, place.folder)
    for name, stream in place.streams._asdict().items():
        keep(stream, folder / name, folder)
