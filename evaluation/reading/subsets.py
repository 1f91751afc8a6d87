"""Parts of records: some bugs, programs that all detectors met, isolated runs;
own records before committed ones.
"""

from collections import defaultdict
from collections.abc import Set
from dataclasses import replace

from evaluation.catalog.declared import DeclaredPrograms
from evaluation.model import CONTROL
from evaluation.reading.codes import count_excluded
from evaluation.reading.stale import stale_programs
from evaluation.records import REPLACED, STALE, UNCOUNTED, CheckRecord, Records
from runner.bugs.catalog import Catalog


def own_before_committed(own_records: Records, committed: Records) -> Records:
    """Both; of a detector with records of one's own only these, so that no program counts twice."""
    own_detectors = {check.detector for check in own_records.checks}
    checks = [check for check in committed.checks if check.detector not in own_detectors]
    overheads = [
        overhead for overhead in committed.overheads if overhead.detector not in own_detectors
    ]
    replaced = count_excluded(REPLACED, committed.checks, checks)
    return replace(
        own_records,
        checks=[*own_records.checks, *checks],
        overheads=[*own_records.overheads, *overheads],
        rules={**committed.rules, **own_records.rules},
        excluded=(*own_records.excluded, *replaced),
    )


def select_bugs(records: Records, names: Set[str]) -> Records:
    """The records of these bugs and cases (BUG, BUG/CASE), and of all controls."""
    checks = [
        check
        for check in records.checks
        if check.kind == CONTROL or {check.bug, f"{check.bug}/{check.case}"} & names
    ]
    return replace(records, checks=checks)


def select_counted(
    records: Records, declared: DeclaredPrograms, named: Set[str] = frozenset()
) -> Records:
    """The records of cases that count: what is retired, injected or never run is in no score,
    unless it is `named`.

    Names are BUG or BUG/CASE.
    """
    checks = [check for check in records.checks if _counts(check, declared, named)]
    if len(checks) == len(records.checks):
        return records
    excluded = count_excluded(UNCOUNTED, records.checks, checks)
    return replace(records, checks=checks, excluded=(*records.excluded, *excluded))


def select_current(records: Records, catalog: Catalog) -> Records:
    """The records without the stale ones: of bugs whose programs have changed since.

    What was perturbed is left out with the program that it was made of.
    """
    stale = stale_programs(records.checks, catalog)
    if not stale:
        return records
    stale_ids = {id(check) for check in stale}
    names = {_program(check) for check in stale}
    checks = []
    for check in records.checks:
        is_of_stale = check.perturb is not None and _program(check) in names
        if id(check) not in stale_ids and not is_of_stale:
            checks.append(check)
    excluded = count_excluded(STALE, records.checks, checks)
    return replace(records, checks=checks, excluded=(*records.excluded, *excluded))


def _counts(check: CheckRecord, declared: DeclaredPrograms, named: Set[str]) -> bool:
    case = f"{check.bug}/{check.case}"
    is_named = bool({check.bug, case} & named)
    return check.kind == CONTROL or is_named or case not in declared.uncounted


def select_common(records: Records) -> Records:
    """The records of programs that every detector was shown, with every kind of its references."""
    shown = defaultdict(set)
    for check in records.checks:
        shown[check.detector, check.references].add(_program(check))
    everywhere = set.intersection(*shown.values()) if shown else set()
    checks = [check for check in records.checks if _program(check) in everywhere]
    return replace(records, checks=checks)


def select_isolated(records: Records) -> Records:
    """The records of checks whose programs ran in namespaces;
    older records do not name their isolation.
    """
    checks = [check for check in records.checks if "namespaces" in (check.runtime.isolation or "")]
    return replace(records, checks=checks)


def _program(check: CheckRecord) -> tuple[str, str, str, int]:
    return check.kind, check.bug, check.case, check.seed
