"""Records of rewritten programs, with those of the same detectors on published programs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.model import Rule
from evaluation.reading.codes import count_excluded, newest_checks, same_code_checks
from evaluation.reading.load import load_results
from evaluation.records import (
    OLDER_CODE,
    OTHER_CODE,
    CheckRecord,
    Records,
    merge_records,
)
from evaluation.store.committed import CommittedChecks
from runner.bugs.config import REWRITTEN


def results_with_rewritten(folder: Path, detectors: Sequence[str] = ()) -> Records | None:
    """The records of detectors (default: all) in a results folder,
    those of rewritten programs among them.

    Only the newest code of each detector counts, by the rules beside its records of published
    programs where there are some. `problems` are those of the files of rewritten programs. None
    where there are no records of these.
    """
    published = load_results(folder / "detectors", detectors)
    folders = sorted((folder / REWRITTEN).glob("*/detectors"))
    rewritten = merge_records([load_results(part, detectors) for part in folders])
    checks = [*published.checks, *rewritten.checks]
    if not rewritten.checks and not rewritten.problems:
        return None
    counted = newest_checks(checks)
    return Records(
        counted,
        (),
        {**rewritten.rules, **published.rules},
        rewritten.problems,
        (*rewritten.excluded, *count_excluded(OLDER_CODE, checks, counted)),
    )


def committed_with_rewritten(
    folders: Iterable[Path], detectors: Sequence[str] = ()
) -> Records | None:
    """The committed records in folders of detectors that have some of rewritten programs,
    with these.

    Only records count that the code of a detector's published records made. None where there are no
    records of rewritten programs. Raises ResultsError.
    """
    stores = [CommittedChecks(folder) for folder in folders]
    published_parts: list[Records] = []
    rewritten_parts: list[Records] = []
    rules: dict[str, Mapping[str, Rule]] = {}
    for store in stores:
        if not store.rewritten:
            continue
        published_part = store.read(detectors)
        rewritten_part = merge_records([part.read(detectors) for part in store.rewritten])
        published_parts.append(published_part)
        rewritten_parts.append(rewritten_part)
        rules |= {**rewritten_part.rules, **published_part.rules}
    published, rewritten = merge_records(published_parts), merge_records(rewritten_parts)
    if not rewritten.checks:
        return None
    same_code = same_code_checks(published.checks, rewritten.checks)
    counted = [check for check in same_code if check.rewritten_as]
    rows = {_row(check) for check in counted}
    return Records(
        [check for check in same_code if _row(check) in rows],
        (),
        rules,
        excluded=tuple(count_excluded(OTHER_CODE, rewritten.checks, counted)),
    )


def _row(check: CheckRecord) -> tuple[str, str]:
    return check.detector, check.references
