"""Patches with the numbers of the fixed twin, run with other parameters: are they the twin's there?

A patch may mend a fault only under a condition that the case always meets. No expectation is about
other parameters, so that it is compared with the fixed twin.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing

import msgspec

from evaluation.repair.grading import Grade, Varied, cut, unchanged_program
from evaluation.repair.patches import Patch
from evaluation.repair.twin_numbers import first_difference
from evaluation.repair.variations import variations
from runner.bugs.bug import Target
from runner.execution.run import Run
from runner.results.record import RunRecord
from runner.session.session import Session


def vary(
    session: Session,
    patches: Sequence[Patch],
    targets: Mapping[str, Target],
    grades: Iterable[Grade],
    models: Container[str] | None = None,
) -> Iterator[Grade]:
    """These grades of patches; those with the fixed twin's numbers also say what becomes of them
    with other parameters, and the first seed of the case. Of these `models` alone, where they are
    named. Raises what a session raises.
    """
    by_name = {(patch.id, patch.model): patch for patch in patches}
    for item in grades:
        if item.is_same and (models is None or item.model in models):
            patch = by_name[item.id, item.model]
            varied = _varied(session, patch, targets[item.id])
            yield msgspec.structs.replace(item, varied=varied)
        else:
            yield item


def _varied(session: Session, patch: Patch, target: Target) -> Varied:
    """What a patch does with other parameters."""
    program = unchanged_program(patch, target).patched()
    twins = _plan_twins(session, target)
    patched = {change: program.run_in_place_of(run) for change, run in twins.items()}
    with closing(session.execute([*twins.values(), *patched.values()])) as ended:
        records = {id(run): record for run, record in ended}
    tried = [change for change, run in twins.items() if records[id(run)].ok]
    differences: dict[str, str] = {}
    for change in tried:
        twin, record = records[id(twins[change])], records[id(patched[change])]
        difference = _difference(record, twin, target)
        if difference is not None:
            differences[change] = difference
    same = tuple(change for change in tried if change not in differences)
    told = [f"{change}: {difference}" for change, difference in differences.items()]
    return Varied(tuple(tried), same, cut(told[0]) if told else "")


def _plan_twins(session: Session, target: Target) -> Mapping[str, Run]:
    """The runs of the fixed twin with other parameters, by what is changed."""
    planned: dict[str, Run] = {}
    for change, case in variations(target.case).items():
        changed = msgspec.structs.replace(target, case=case, variants=("fixed",))
        (planned[change],) = session.plan(changed, target.case.program.seeds[:1])
    return planned


def _difference(record: RunRecord, twin: RunRecord, target: Target) -> str | None:
    """What the patched program does otherwise than the fixed twin, in words."""
    if not record.ok:
        return f"{record.status}: {record.reason}"
    return first_difference(record.metrics, twin.metrics, target.case.oracle.volatile)
