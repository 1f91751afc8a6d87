"""Committed records by further seeds, with those of the same programs by the first seed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.model import Rule
from evaluation.reading.codes import count_excluded
from evaluation.records import OTHER_CODE, CheckRecord, Records, merge_records, program_name
from evaluation.store.committed import CommittedChecks

# A program of a detector, whatever its seed: detector, references, bug, case, kind.
AnySeed = tuple[str, str, str, str, str]


def committed_with_seeds(folders: Iterable[Path], detectors: Sequence[str] = ()) -> Records | None:
    """The committed records in folders of detectors that have some by further seeds, with these.

    A record by a further seed counts if the record by the first seed of the same program is there,
    and the same code made it. None where there are no records by further seeds. Raises
    ResultsError.
    """
    stores = [CommittedChecks(folder) for folder in folders]
    pairs = [(store.read(detectors), store.further.read(detectors)) for store in stores]
    published = merge_records([first_part for first_part, _ in pairs])
    further = merge_records([further_part for _, further_part in pairs])
    if not further.checks:
        return None
    firsts = {_without_seed(check): check for check in published.checks}
    counted = [check for check in further.checks if _continues(check, firsts)]
    names = {check.detector for check in counted}
    rules: dict[str, Mapping[str, Rule]] = {}
    for first_part, further_part in pairs:
        rules |= {**further_part.rules, **first_part.rules}
    return Records(
        [*(check for check in published.checks if check.detector in names), *counted],
        (),
        rules,
        excluded=tuple(count_excluded(OTHER_CODE, further.checks, counted)),
    )


def _continues(check: CheckRecord, firsts: dict[AnySeed, CheckRecord]) -> bool:
    """Whether there is a record by a smaller seed of the program, made by the same code."""
    first = firsts.get(_without_seed(check))
    return first is not None and first.code == check.code and first.seed < check.seed


def _without_seed(check: CheckRecord) -> AnySeed:
    references, bug, case, kind, _ = program_name(check)
    return check.detector, references, bug, case, kind
