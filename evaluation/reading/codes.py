"""Records by the code of their detector: answers of an older code do not count beside those of a
newer one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from evaluation.records import (
    OLDER_CODE,
    CheckRecord,
    Excluded,
    ExclusionReason,
    OverheadRecord,
    Records,
)

# The digest of the code; of records from before it was noted, the detector's version and the kit.
Code = tuple[str | None, ...]
AnyRecord = CheckRecord | OverheadRecord


def newest_records(records: Records) -> Records:
    """The checks and overheads of each detector that its newest code made,
    that of its checks if it has some.
    """
    everything: list[AnyRecord] = [*records.checks, *records.overheads]
    detectors = {record.detector for record in everything}
    newest: dict[str, Code] = {}
    for name in detectors:
        checks = [check for check in records.checks if check.detector == name]
        overheads = [overhead for overhead in records.overheads if overhead.detector == name]
        newest[name] = _newest_code(checks or overheads)
    checks = [check for check in records.checks if _code(check) == newest[check.detector]]
    overheads = [
        overhead for overhead in records.overheads if _code(overhead) == newest[overhead.detector]
    ]
    excluded = count_excluded(OLDER_CODE, everything, [*checks, *overheads])
    return replace(
        records,
        checks=checks,
        overheads=overheads,
        excluded=(*records.excluded, *excluded),
    )


def newest_checks(checks: Sequence[CheckRecord]) -> list[CheckRecord]:
    """The checks of each detector that its newest code made, whichever folders they come from."""
    newest = _newest_codes(checks)
    return [check for check in checks if _code(check) == newest[check.detector]]


def same_code_checks(
    published: Sequence[CheckRecord], rewritten: Sequence[CheckRecord]
) -> list[CheckRecord]:
    """Both, of each detector by the newest code of its published records,
    or else of its rewritten ones.
    """
    codes = _newest_codes(rewritten) | _newest_codes(published)
    return [check for check in (*published, *rewritten) if _code(check) == codes[check.detector]]


def count_excluded(
    reason: ExclusionReason, records: Sequence[AnyRecord], counted: Sequence[AnyRecord]
) -> list[Excluded]:
    """How many records of each detector are not among those that count."""
    numbers = Counter(record.detector for record in records)
    numbers -= Counter(record.detector for record in counted)
    return [Excluded(reason, name, count) for name, count in sorted(numbers.items())]


def _newest_codes(checks: Sequence[CheckRecord]) -> dict[str, Code]:
    """The newest code of each detector."""
    by_detector: dict[str, list[CheckRecord]] = {}
    for check in checks:
        by_detector.setdefault(check.detector, []).append(check)
    return {name: _newest_code(group) for name, group in by_detector.items()}


def _newest_code(records: Sequence[AnyRecord]) -> Code:
    """The code that made the record that was started last."""
    dated_codes = [(record.started, _code(record)) for record in records]
    _, newest = max(dated_codes, key=itemgetter(0))
    return newest


def _code(record: AnyRecord) -> Code:
    return (record.code,) if record.code else (record.version, record.kit)
