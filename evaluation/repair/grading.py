"""The grading of repairs: each patched program runs in the place of the fixed twin, on the seeds of
the case and on others that are drawn, and the case's oracle judges it.
"""

import math
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

import msgspec.structs
from msgspec import Struct

from evaluation.repair.patches import Patch, PatchError, patched_text
from evaluation.repair.refusals import refusals
from runner.bugs.bug import Target
from runner.bugs.case import Case, Oracle
from runner.execution.run import Run
from runner.field_types import Record
from runner.results.record import RunRecord
from runner.session.session import Session
from runner.verdicts.verdict import INVALID, verify

Outcome = Literal["FIXED", "PARTLY", "NOT FIXED", "REFUSED", "INVALID"]
OUTCOMES: tuple[Outcome, ...] = ("FIXED", "PARTLY", "NOT FIXED", "REFUSED", "INVALID")
# Of drawn seeds: far from the small ones that people write down.
FIRST_DRAWN, LAST_DRAWN = 1000, 999_999
# How near to the fixed twin's the numbers of a repaired measurement have to be.
NEAR = 1e-3


class Grade(Struct, frozen=True):
    """What became of a patch.

    `seeds` are those of the case and the drawn ones on which both twins behave; `held` those on
    which the patched program does what the fixed one is expected to. `changed` and `real` are the
    lines that the patch and the real fix change; `at_site`: whether the patch changes a line within
    five of the fault's.
    """

    id: str
    model: str
    case: str
    outcome: Outcome
    reason: str
    seeds: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    changed: int = 0
    real: int = 0
    at_site: bool | None = None


@dataclass(frozen=True)
class Submitted:
    """A patch, the target that it is for, and its program."""

    patch: Patch
    target: Target
    buggy: str
    fixed: str
    text: str

    @property
    def measures(self) -> bool:
        """Whether the fault is in the measurement."""
        labels = self.target.bug.labels
        return labels.stage == "evaluation" or labels.effect == "wrong evaluation"

    def grade(self, outcome: Outcome, reason: str, **more: object) -> Grade:
        return msgspec.structs.replace(
            Grade(
                self.patch.id,
                self.patch.model,
                self.target.case.id,
                outcome,
                reason,
                changed=changed_lines(self.buggy, self.text),
                real=changed_lines(self.buggy, self.fixed),
                at_site=_at_site(self),
            ),
            **more,
        )


def grade(
    session: Session, patches: Sequence[Patch], targets: Mapping[str, Target], drawn: int = 2
) -> Iterator[Grade]:
    """The grades of patches for these targets, by their tasks; those that need no run come first.

    `drawn` seeds are drawn for all cases, and both twins run on them as well. Raises what a session
    raises.
    """
    submitted: list[Submitted] = []
    for patch in patches:
        result = _examine(patch, targets[patch.id])
        if isinstance(result, Grade):
            yield result
        else:
            submitted.append(result)
    drawn_seeds = draw_seeds(drawn)
    records = _run_all(session, submitted, drawn_seeds)
    for item in submitted:
        yield _judge(item, records, drawn_seeds)


def draw_seeds(count: int) -> tuple[int, ...]:
    """Seeds that nobody knows beforehand."""
    seeds: set[int] = set()
    while len(seeds) < count:
        seeds.add(FIRST_DRAWN + secrets.randbelow(LAST_DRAWN - FIRST_DRAWN))
    return tuple(sorted(seeds))


def _examine(patch: Patch, target: Target) -> Submitted | Grade:
    """The program of a patch, or its grade where it need not run."""
    variants = target.case.program.variants
    buggy = variants["buggy"].script.read_text(encoding="utf-8")
    fixed = variants["fixed"].script.read_text(encoding="utf-8")
    empty = Submitted(patch, target, buggy, fixed, buggy)
    try:
        item = replace(empty, text=patched_text(patch, buggy))
        reasons = refusals(item.text, buggy, fixed, item.measures)
    except PatchError as error:
        return empty.grade("INVALID", str(error))
    except (SyntaxError, ValueError, RecursionError) as error:
        return empty.grade("INVALID", f"it is no Python: {error}")
    return item.grade("REFUSED", "; ".join(reasons)) if reasons else item


def _run_all(
    session: Session, submitted: Sequence[Submitted], drawn: Sequence[int]
) -> Mapping[tuple[str, str, int], RunRecord]:
    """The records of all runs, by case, program and seed; a program is `buggy`, `fixed`, or a
    patch's ID and model.
    """
    runs: dict[int, tuple[str, str, int]] = {}
    planned: list[Run] = []
    for target in _each_once(item.target for item in submitted):
        both = msgspec.structs.replace(target, variants=("buggy", "fixed"))
        for run in session.plan(both, [*target.case.program.seeds, *drawn]):
            planned.append(run)
            runs[id(run)] = (target.case.id, run.variant, run.seed)
            if run.variant == "fixed":
                for item in submitted:
                    if item.target.case.id == target.case.id:
                        patched = _patched_run(run, item)
                        planned.append(patched)
                        runs[id(patched)] = (target.case.id, _name(item), run.seed)
    with closing(session.execute(planned)) as ended:
        return {runs[id(run)]: record for run, record in ended}


def _patched_run(run: Run, item: Submitted) -> Run:
    script = item.target.case.program.variants["fixed"].script.name
    scripts = {**run.scripts, script: item.text.encode()}
    return replace(run, scripts=scripts, label=f"patch {item.patch.id}")


def _name(item: Submitted) -> str:
    return f"{item.patch.id} {item.patch.model}"


def _each_once(targets: Iterable[Target]) -> Iterator[Target]:
    return iter({target.case.id: target for target in targets}.values())


def _judge(
    item: Submitted,
    records: Mapping[tuple[str, str, int], RunRecord],
    drawn: Sequence[int],
) -> Grade:
    """The grade of a program that has run."""
    case = item.target.case
    single = _of_fixed(case, several_seeds=False)
    counted = [
        seed
        for seed in [*case.program.seeds, *drawn]
        if seed not in drawn or _behaves(single, _records(records, case, "fixed", seed)) is True
    ]
    held: list[int] = []
    reasons: list[str] = []
    for seed in counted:
        pair = _records(records, case, _name(item), seed)
        behaves, reason = _outcome(single, pair)
        if behaves is None:
            return item.grade("INVALID", f"seed {seed}: {reason}", seeds=tuple(counted))
        if behaves and item.measures:
            behaves, reason = _measures_alike(pair[1], records[case.id, "fixed", seed])
        if behaves:
            held.append(seed)
        else:
            reasons.append(f"seed {seed}: {reason}")
    if len(held) == len(counted):
        every = [_records(records, case, _name(item), seed) for seed in case.program.seeds]
        whole = _of_fixed(case, several_seeds=True)
        behaves, reason = _outcome(whole, [record for pair in every for record in pair])
        if not behaves:
            reasons, held = [reason], []
    outcome: Outcome = "PARTLY" if held else "NOT FIXED"
    if not reasons:
        outcome = "FIXED"
    reason = reasons[0] if reasons else "it does what is expected of the fixed program"
    return item.grade(outcome, reason, seeds=tuple(counted), held=tuple(held))


def _of_fixed(case: Case, several_seeds: bool) -> Case:
    """The case with its expectations of the fixed program, and with those about several seeds only
    where they are asked for.
    """
    expectations = [
        item
        for item in case.oracle.expectations
        if "fixed" in item.variants and (several_seeds or item.across_seeds is None)
    ]
    return msgspec.structs.replace(case, oracle=Oracle(tuple(expectations), case.oracle.volatile))


def _records(
    records: Mapping[tuple[str, str, int], RunRecord], case: Case, program: str, seed: int
) -> list[RunRecord]:
    """The buggy record and that of the program, which is to behave as the fixed one."""
    return [records[case.id, "buggy", seed], records[case.id, program, seed]]


def _outcome(case: Case, records: Sequence[RunRecord]) -> tuple[bool | None, str]:
    """Whether all expectations hold, None where that cannot be told; and the reason."""
    verdict = verify(case, records)
    undecided = [check for check in verdict.checks if check.holds is None]
    if verdict.outcome == INVALID or undecided:
        return None, verdict.reason
    failed = [check for check in verdict.checks if check.holds is False]
    if failed:
        return False, f"{failed[0].expectation.statement}: {failed[0].explanation}"
    return True, ""


def _behaves(case: Case, records: Sequence[RunRecord]) -> bool | None:
    return _outcome(case, records)[0]


def _measures_alike(patched: RunRecord, fixed: RunRecord) -> tuple[bool, str]:
    """Whether the numbers of a repaired measurement are the fixed twin's."""
    if len(patched.metrics) != len(fixed.metrics):
        return False, f"it has {len(patched.metrics)} records, the fixed one {len(fixed.metrics)}"
    for one, other in zip(patched.metrics, fixed.metrics, strict=True):
        name = _differing(one, other)
        if name:
            return False, f"{name} is {one.get(name)}, and {other[name]} in the fixed program"
    return True, ""


def _differing(one: Record, other: Record) -> str | None:
    """The first metric of `other` that `one` has not nearly the same."""
    for name, value in other.items():
        mine = one.get(name)
        if isinstance(value, int | float) and isinstance(mine, int | float):
            is_alike = math.isclose(mine, value, rel_tol=NEAR, abs_tol=NEAR)
        else:
            is_alike = mine == value
        if not is_alike:
            return name
    return None


def changed_lines(before: str, after: str) -> int:
    """How many lines differ: of a replaced block the longer side."""
    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(
        max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    )


def _at_site(item: Submitted) -> bool | None:
    """Whether the patch changes a line near the fault; None where the fault is in no script."""
    site = item.target.bug.site
    script = item.target.case.program.variants["buggy"].script.name
    if site.file != script or site.line is None:
        return None
    before, after = item.buggy.splitlines(), item.text.splitlines()
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return any(
        first - 5 <= site.line <= max(last, first + 1) + 5
        for tag, first, last, _, _ in matcher.get_opcodes()
        if tag != "equal"
    )
