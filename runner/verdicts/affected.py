"""Affected versions: what runs of one buggy script under many versions show about each.

Pure functions.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.program import VARIANTS
from runner.errors import ResultsError
from runner.expectations.checks import ExpectationCheck, check
from runner.expectations.expectation import Expectation
from runner.results.record import RunRecord
from runner.verdicts.complete_runs import flaw
from runner.verdicts.verdict import INVALID

AFFECTED = "affected"
NOT_AFFECTED = "not affected"
NEITHER = "neither"


@dataclass(frozen=True)
class VersionFinding:
    """What a case's buggy script does in one environment; `state` is one of the words above, or
    INVALID.

    Affected: it meets every expectation about the buggy variant. Not affected: it meets every
    expectation about the fixed one. Neither: it does something else, and `reason` says what.
    `version` is the version of the bug's package, `-` where it is not known.
    """

    environment: str
    version: str
    case: str
    state: str
    reason: str


def findings(bug: Bug, records: Iterable[RunRecord]) -> list[VersionFinding]:
    """One finding for each environment and case among the records, in the order of versions and of
    cases.

    Raises ResultsError for a record whose case the bug does not have.
    """
    groups: dict[tuple[str, str], list[RunRecord]] = {}
    for record in records:
        groups.setdefault((record.runtime.environment, record.case), []).append(record)
    strange = next((case for _, case in groups if case not in bug.cases), None)
    if strange is not None:
        raise ResultsError(
            f"{bug.id}: there are runs of {strange!r} in its map of versions, which is no case of "
            "it"
        )
    order = list(bug.cases)

    def key(finding: VersionFinding) -> tuple[tuple[int, ...], str, int]:
        return version_order(finding.version), finding.environment, order.index(finding.case)

    results = [_finding(bug.package, bug.cases[case], group) for (_, case), group in groups.items()]
    return sorted(results, key=key)


def mappable(case: Case) -> bool:
    """Whether the buggy script can be judged alone: each variant has an expectation without the
    other one.
    """
    return all(_alone(case, variant) for variant in VARIANTS)


def version_order(version: str) -> tuple[int, ...]:
    """The key that sorts versions: 2.9.1 before 2.13.0; a local label (+cpu) does not count."""
    return tuple(int(number) for number in re.findall(r"\d+", version.split("+")[0]))


def _finding(package: str, case: Case, records: Sequence[RunRecord]) -> VersionFinding:
    first = records[0]
    # An environment of another package is called by its release; records say the release of torch
    # only.
    prefix, is_release, version = first.runtime.environment.partition(f"{package}-")
    if prefix or not is_release:
        torch = first.runtime.torch if package == "torch" else None
        version = (torch or "-").split("+")[0]
    return VersionFinding(first.runtime.environment, version, case.name, *_state(case, records))


def _state(case: Case, records: Sequence[RunRecord]) -> tuple[str, str]:
    for record in records:
        reason = flaw(case, record)
        if reason:
            return INVALID, f"seed {record.seed}: {reason}"
    checks = {variant: _checks(case, variant, records) for variant in VARIANTS}
    undecided = [item for group in checks.values() for item in group if item.holds is None]
    if undecided:
        return INVALID, f"{undecided[0].seeds}: {undecided[0].explanation}"
    if all(item.holds for item in checks["buggy"]):
        return AFFECTED, f"{len(checks['buggy'])} checks of the buggy variant hold"
    failed = next((item for item in checks["fixed"] if not item.holds), None)
    if failed is None:
        return NOT_AFFECTED, f"{len(checks['fixed'])} checks of the fixed variant hold"
    return NEITHER, f"{failed.seeds}: {failed.explanation}"


def _checks(case: Case, variant: str, records: Sequence[RunRecord]) -> list[ExpectationCheck]:
    """The expectations about one variant, on the records of the buggy script."""
    expectations = _alone(case, variant)
    return [
        check(item, record.seed, {variant: record.metrics})
        for item in expectations
        for record in records
    ]


def _alone(case: Case, variant: str) -> list[Expectation]:
    """The expectations about one variant without the other one; not those about all seeds: a map is
    of one.
    """
    expectations = [item for item in case.oracle.expectations if item.variants == {variant}]
    return [item for item in expectations if item.across_seeds is None]
