"""Answers of detectors: as they wrote them, or as the end of their work tells."""

import errno
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from evaluation.model import Alarm, Answer, OwnAnswer, Status
from runner.errors import TrainbugsError
from runner.execution.local import StoppedError
from runner.files import untrusted
from runner.files.structs import MismatchError, as_struct

# Size of the file with an answer.
MAX_BYTES = 16_000_000
# Alarms that are kept of one code and severity, where a detector raises one at every opportunity;
# others are counted.
MAX_ALARMS = 100
# Length of the reason for a status.
MAX_REASON = 500
# The disk is full: that says nothing of a detector.
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
# The kit's errors. An adapter that learns writes no answer: it ends with one of these and the
# reason.
STATUS_OF: dict[str, Status] = {
    "ToolTimeoutError": "timeout",
    "UnsupportedError": "unsupported",
    "ToolError": "tool_error",
}


def failed(status: Status, reason: str) -> Answer:
    """The answer of a detector that failed; a long reason is cut."""
    return Answer(status, reason[:MAX_REASON])


def broken_by(error: Exception) -> Answer:
    """The answer where an exception has ended a check;
    raises it again where it says nothing of the detector.
    """
    is_disk_full = isinstance(error, OSError) and error.errno in DISK_FULL
    if is_disk_full or isinstance(error, StoppedError):
        raise error
    kind = "" if isinstance(error, TrainbugsError) else f"{type(error).__name__}: "
    return failed("tool_error", f"{kind}{error}")


def parse_kit_error(message: str) -> Answer | None:
    """What an adapter's last words say, if it ended with one of the kit's errors."""
    error, _, reason = message.partition(": ")
    return failed(STATUS_OF[error], reason) if error in STATUS_OF else None


def read_answer(path: Path) -> Answer:
    """The answer in a file that a detector wrote; never raises."""
    if not path.exists():
        return Answer("tool_error", f"the detector wrote no {path.name}")
    try:
        answer = as_struct(untrusted.read_json(path, MAX_BYTES, path.parent), OwnAnswer)
    except (untrusted.UnsafeError, MismatchError) as error:
        return failed("tool_error", f"{path.name}: {error}")
    if answer.status != "ok":
        # A tool that failed has no alarms: what it said on its way down is no detection.
        return Answer(answer.status, answer.reason or "no reason given")
    # Only a committed alarm stands for several.
    alarms, dropped = thin([replace(alarm, times=1) for alarm in answer.alarms])
    return Answer(
        status="ok",
        alarms=alarms,
        dropped=answer.dropped + dropped,
        training=answer.training,
        invariants=answer.invariants,
        artefacts=answer.artefacts,
    )


def without_stamps(answer: Answer) -> Answer:
    """The answer without iterations in which alarms were seen:
    only the launcher's own adapter is believed there.
    """
    alarms = [replace(alarm, seen=None) for alarm in answer.alarms]
    return replace(answer, alarms=tuple(alarms))


def thin(alarms: Sequence[Alarm], most: int = MAX_ALARMS) -> tuple[tuple[Alarm, ...], int]:
    """The first `most` alarms of each code and severity, and how many others there were."""
    counts: Counter[tuple[str, str]] = Counter()
    first_alarms = []
    for alarm in alarms:
        counts[alarm.code, alarm.severity] += 1
        if counts[alarm.code, alarm.severity] <= most:
            first_alarms.append(alarm)
    return tuple(first_alarms), len(alarms) - len(first_alarms)
