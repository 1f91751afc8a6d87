"""The grading of repairs: each patched program runs in the place of the fixed twin, on the seeds of
the case and on others that are drawn, and the case's oracle judges it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import Literal

import msgspec.structs
from msgspec import Struct

from evaluation.repair.drawn_seeds import seeds_for
from evaluation.repair.patches import NOBODY, Patch, PatchError, patched_text
from evaluation.repair.refusals import refusals
from evaluation.repair.twin_numbers import ROUNDING, first_difference
from runner.bugs.bug import Target
from runner.bugs.case import Case, Oracle
from runner.execution.run import Run
from runner.files.untrusted import printable
from runner.plurals import counted
from runner.results.record import RunRecord
from runner.session.forecast import Forecast, forecast, together
from runner.session.session import Session
from runner.verdicts.verdict import INVALID, verify

Outcome = Literal["FIXED", "PARTLY", "NOT FIXED", "REFUSED", "INVALID"]
OUTCOMES: tuple[Outcome, ...] = ("FIXED", "PARTLY", "NOT FIXED", "REFUSED", "INVALID")
# Characters of a reason.
MAX_REASON = 2000


class Varied(Struct, frozen=True):
    """What a patch does with other parameters, one of them changed at a time.

    `tried` are the changes with which the fixed twin runs, such as "width = 32"; `same` those with
    which the patched program records the numbers of the fixed twin, to a thousandth. `difference`
    is what it does otherwise first, in words.
    """

    tried: tuple[str, ...]
    same: tuple[str, ...]
    difference: str = ""

    @property
    def is_same(self) -> bool:
        """Whether the numbers are the same with each change that was tried."""
        return bool(self.tried) and self.same == self.tried


class Grade(Struct, frozen=True):
    """What became of a patch.

    `seeds` are those of the case and the drawn ones on which both twins behave; `held` those on
    which the patched program does what the fixed one is expected to; `same` those on which it
    records the numbers of the fixed twin, to a thousandth. `changed` and `real` are the lines that
    the patch and the real fix change; `at_site`: whether the patch changes a line within five of
    the fault's. `varied` is None for a patch that did not run with other parameters.
    """

    id: str
    model: str
    case: str
    outcome: Outcome
    reason: str
    seeds: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    same: tuple[int, ...] = ()
    changed: int = 0
    real: int = 0
    at_site: bool | None = None
    varied: Varied | None = None

    @property
    def is_same(self) -> bool:
        """Whether it is FIXED, and has the numbers of the fixed twin with each seed."""
        return self.outcome == "FIXED" and bool(self.seeds) and self.same == self.seeds


@dataclass(frozen=True)
class PatchedProgram:
    """A patch, the target that it is for, and the program that it makes."""

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

    def patched(self) -> "PatchedProgram":
        """The program after its patch. Raises PatchError."""
        return replace(self, text=patched_text(self.patch, self.buggy))

    def run_in_place_of(self, fixed: Run) -> Run:
        """The run of this program that differs from the fixed twin's by the script alone."""
        script = self.target.case.program.variants["fixed"].script.name
        scripts = {**fixed.scripts, script: self.text.encode()}
        return replace(fixed, scripts=scripts, label=self._label)

    @property
    def _label(self) -> str:
        by = "" if self.patch.model == NOBODY else f" of {printable(self.patch.model)}"
        return f"patch {self.patch.id}{by}"

    def graded(self, outcome: Outcome, reason: str, **more: object) -> Grade:
        """The grade of this program."""
        return msgspec.structs.replace(
            Grade(
                self.patch.id,
                self.patch.model,
                self.target.case.id,
                outcome,
                cut(reason),
                changed=changed_lines(self.buggy, self.text),
                real=changed_lines(self.buggy, self.fixed),
                at_site=_at_site(self),
            ),
            **more,
        )


@dataclass(frozen=True)
class PlannedTwins:
    """The runs of the twins of a case, by seed."""

    buggy: Mapping[int, Run]
    fixed: Mapping[int, Run]


@dataclass(frozen=True)
class CaseRecords:
    """The records of both twins and of one patched program, by seed."""

    buggy: Mapping[int, RunRecord]
    fixed: Mapping[int, RunRecord]
    patched: Mapping[int, RunRecord]


def grade(
    session: Session, patches: Sequence[Patch], targets: Mapping[str, Target], drawn: int = 2
) -> Iterator[Grade]:
    """The grades of patches for these targets, by their tasks; those that need no run come first.

    `drawn` seeds are drawn for all cases, and both twins run on them as well. Raises what a session
    raises.
    """
    programs: list[PatchedProgram] = []
    for patch in patches:
        result = _examine(patch, targets[patch.id])
        if isinstance(result, Grade):
            yield result
        else:
            programs.append(result)
    if not programs:
        return
    judged = [(program.patch, program.target.case.id) for program in programs]
    seeds = seeds_for(session.store, judged, drawn)
    _announce(session, programs, seeds)
    for program, records in _run_all(session, programs, seeds):
        yield _judge(program, records, seeds)


def _examine(patch: Patch, target: Target) -> PatchedProgram | Grade:
    """The program of a patch, or its grade where it need not run."""
    unchanged = unchanged_program(patch, target)
    try:
        program = unchanged.patched()
        reasons = refusals(program.text, program.buggy, program.fixed, program.measures)
    except PatchError as error:
        return unchanged.graded("INVALID", str(error))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return unchanged.graded(
            "INVALID", f"it is no Python, or too deep: {error}".removesuffix(": ")
        )
    return program.graded("REFUSED", "; ".join(reasons)) if reasons else program


def unchanged_program(patch: Patch, target: Target) -> PatchedProgram:
    """The program that a patch is for, before it is patched."""
    variants = target.case.program.variants
    buggy = variants["buggy"].script.read_text(encoding="utf-8")
    fixed = variants["fixed"].script.read_text(encoding="utf-8")
    return PatchedProgram(patch, target, buggy, fixed, buggy)


def _announce(session: Session, programs: Sequence[PatchedProgram], drawn: Sequence[int]) -> None:
    """Say how long the runs of all programs and their twins will take, where that is long."""
    patches = Counter(program.target.case.id for program in programs)
    targets = {program.target.case.id: program.target for program in programs}
    by_case: list[Forecast] = []
    for name, target in targets.items():
        # A patched program takes as long as the fixed twin.
        variants = ("buggy", "fixed", *["fixed"] * patches[name])
        options = replace(session.options, seeds=(*target.case.program.seeds, *drawn))
        run = msgspec.structs.replace(target, variants=variants)
        by_case.append(forecast(session.catalog.root, [run], options))
    expected = together(by_case)
    if expected.is_long:
        session.progress.line(f"{counted(len(programs), 'patched program')}: {expected}")


def _run_all(
    session: Session, programs: Sequence[PatchedProgram], drawn: Sequence[int]
) -> Iterator[tuple[PatchedProgram, CaseRecords]]:
    """Each program with the records of its runs and of its twins'; twins run once for all."""
    targets = {program.target.case.id: program.target for program in programs}
    twins = {case: _plan_twins(session, target, drawn) for case, target in targets.items()}
    patched: list[Mapping[int, Run]] = []
    for program in programs:
        fixed = twins[program.target.case.id].fixed
        patched.append({seed: program.run_in_place_of(run) for seed, run in fixed.items()})
    groups: list[Mapping[int, Run]] = [*patched]
    for planned in twins.values():
        groups += [planned.buggy, planned.fixed]
    records = _execute(session, groups)
    for program, runs in zip(programs, patched, strict=True):
        planned = twins[program.target.case.id]
        by_seed = [_records_of(group, records) for group in (planned.buggy, planned.fixed, runs)]
        yield program, _without_rounding(program.target.case, CaseRecords(*by_seed))


def _without_rounding(case: Case, records: CaseRecords) -> CaseRecords:
    """The records in which numbers of the patched program that differ from the fixed twin's by
    rounding alone are the twin's: an expectation may ask for equal ones.
    """
    patched: dict[int, RunRecord] = {}
    for seed, record in records.patched.items():
        metrics, twin = record.metrics, records.fixed[seed].metrics
        if first_difference(metrics, twin, case.oracle.volatile, ROUNDING) is None:
            metrics = twin
        patched[seed] = msgspec.structs.replace(record, metrics=metrics)
    return replace(records, patched=patched)


def _records_of(
    runs: Mapping[int, Run], records: Mapping[int, RunRecord]
) -> Mapping[int, RunRecord]:
    """The records of runs by seed, from records by the identity of the run."""
    return {seed: records[id(run)] for seed, run in runs.items()}


def _plan_twins(session: Session, target: Target, drawn: Sequence[int]) -> PlannedTwins:
    both = msgspec.structs.replace(target, variants=("buggy", "fixed"))
    runs = session.plan(both, [*target.case.program.seeds, *drawn])
    return PlannedTwins(
        buggy={run.seed: run for run in runs if run.variant == "buggy"},
        fixed={run.seed: run for run in runs if run.variant == "fixed"},
    )


def _execute(session: Session, groups: Iterable[Mapping[int, Run]]) -> Mapping[int, RunRecord]:
    """The records of runs, by the identity of the run: a patch may be the text of a twin."""
    runs = [run for group in groups for run in group.values()]
    with closing(session.execute(runs)) as ended:
        return {id(run): record for run, record in ended}


def _judge(program: PatchedProgram, records: CaseRecords, drawn: Sequence[int]) -> Grade:
    """The grade of a program that has run."""
    case = program.target.case
    seeds = _counted_seeds(case, records, drawn)
    held: list[int] = []
    reasons: list[str] = []
    for seed in seeds:
        holds, reason = _holds(program, records, seed)
        if holds is None:
            return program.graded("INVALID", f"seed {seed}: {reason}", seeds=seeds)
        if holds:
            held.append(seed)
        else:
            reasons.append(f"seed {seed}: {reason}")
    if not reasons:
        holds, reason = _holds_over_all(case, records)
        if not holds:
            reasons, held = [reason], []
    outcome: Outcome = "PARTLY" if held else "NOT FIXED"
    if not reasons:
        outcome = "FIXED"
    reason = reasons[0] if reasons else "it does what is expected of the fixed program"
    same = tuple(seed for seed in seeds if _difference_from_twin(case, records, seed) is None)
    return program.graded(outcome, reason, seeds=seeds, held=tuple(held), same=same)


def _counted_seeds(case: Case, records: CaseRecords, drawn: Sequence[int]) -> tuple[int, ...]:
    """The seeds of the case, and those drawn on which the fixed twin behaves."""
    single = _expecting_fixed(case, several_seeds=False)
    behaving = [
        seed
        for seed in drawn
        if _outcome(single, [records.buggy[seed], records.fixed[seed]])[0] is True
    ]
    return (*case.program.seeds, *behaving)


def _holds(program: PatchedProgram, records: CaseRecords, seed: int) -> tuple[bool | None, str]:
    """Whether the program does on one seed what the fixed one is expected to, None where that
    cannot be told; and the reason.
    """
    case = program.target.case
    single = _expecting_fixed(case, several_seeds=False)
    behaves, reason = _outcome(single, [records.buggy[seed], records.patched[seed]])
    difference = _difference_from_twin(case, records, seed)
    if behaves and program.measures and difference:
        return False, difference
    return behaves, reason


def _difference_from_twin(case: Case, records: CaseRecords, seed: int) -> str | None:
    """What the patched program records otherwise than the fixed twin, with one seed."""
    patched, fixed = records.patched[seed].metrics, records.fixed[seed].metrics
    return first_difference(patched, fixed, case.oracle.volatile)


def _holds_over_all(case: Case, records: CaseRecords) -> tuple[bool | None, str]:
    """The same over all seeds of the case together."""
    pairs = [(records.buggy[seed], records.patched[seed]) for seed in case.program.seeds]
    return _outcome(_expecting_fixed(case, several_seeds=True), list(chain.from_iterable(pairs)))


def _expecting_fixed(case: Case, several_seeds: bool) -> Case:
    """The case with its expectations of the fixed program, and with those about several seeds only
    where they are asked for.
    """
    expectations = [
        item
        for item in case.oracle.expectations
        if "fixed" in item.variants and (several_seeds or item.across_seeds is None)
    ]
    return msgspec.structs.replace(case, oracle=Oracle(tuple(expectations), case.oracle.volatile))


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


def cut(reason: str) -> str:
    """The reason without its end, of which a hostile patch may make a text of any length."""
    return reason if len(reason) <= MAX_REASON else reason[:MAX_REASON] + "…"


def changed_lines(before: str, after: str) -> int:
    """How many lines differ: of a replaced block the longer side."""
    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(
        max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    )


def _at_site(program: PatchedProgram) -> bool | None:
    """Whether the patch changes a line near the fault; None where the fault is in no script."""
    site = program.target.bug.site
    script = program.target.case.program.variants["buggy"].script.name
    if site.file != script or site.line is None:
        return None
    before, after = program.buggy.splitlines(), program.text.splitlines()
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return any(
        first - 5 <= site.line <= max(last, first + 1) + 5
        for tag, first, last, _, _ in matcher.get_opcodes()
        if tag != "equal"
    )
