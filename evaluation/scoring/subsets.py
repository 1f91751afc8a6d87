"""Parts of records of evaluations: of some bugs, of what all detectors met, of one's own beside the committed ones."""

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import replace

from evaluation.model import CONTROL
from evaluation.records import CheckRecord
from evaluation.store import Evaluated


def beside(own: Evaluated, committed: Evaluated) -> Evaluated:
    """Both; of a detector with records of one's own only these, so that no program counts twice."""
    mine = {record.detector for record in own.checks}
    return replace(
        own,
        checks=[*own.checks, *(each for each in committed.checks if each.detector not in mine)],
        overheads=[
            *own.overheads,
            *(each for each in committed.overheads if each.detector not in mine),
        ],
        rules={**committed.rules, **own.rules},
        replaced=tuple(sorted(mine & {each.detector for each in committed.checks})),
    )


def of_bugs(read: Evaluated, names: Set[str]) -> Evaluated:
    """The records of these bugs and cases (BUG, BUG/CASE), and of all controls."""
    kept = [
        each
        for each in read.checks
        if each.kind == CONTROL or {each.bug, f"{each.bug}/{each.case}"} & names
    ]
    return _part(read, kept)


def common(read: Evaluated) -> Evaluated:
    """The records of programs that every detector was shown, with every kind of its references."""
    shown = defaultdict(set)
    for each in read.checks:
        shown[each.detector, each.references].add(_program(each))
    everywhere = set.intersection(*shown.values()) if shown else set()
    return _part(read, [each for each in read.checks if _program(each) in everywhere])


def isolated(read: Evaluated) -> Evaluated:
    """The records of checks whose programs ran in namespaces; older records do not say by what they were kept."""
    strong = [record for record in read.checks if "namespaces" in (record.isolation or "")]
    return _part(read, strong)


def _part(read: Evaluated, kept: Sequence[CheckRecord]) -> Evaluated:
    return replace(read, checks=kept, whole=read.whole or read.checks)


def _program(record: CheckRecord) -> tuple[str, str, str, int]:
    return record.kind, record.bug, record.case, record.seed
