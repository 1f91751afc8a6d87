"""Records of published programs with others to be set side by side: of rewritten programs, or by further seeds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.model import Rule
from evaluation.records import CheckRecord
from evaluation.store import (
    Evaluated,
    Evaluations,
    ExpectedEvaluations,
    of_code_of,
    of_newest_code,
    subject,
)
from runner.bugs.config import REWRITTEN


def of_results(folder: Path, detectors: Sequence[str] = ()) -> Evaluated | None:
    """The records of these detectors (all, where there are none) in a results folder, with those of rewritten programs.

    Of each detector only those of its newest code, by the rules beside the records of published programs where there
    are some. `problems` are those of the files of rewritten programs. None where there are no records of these.
    """
    public = Evaluations(folder / "detectors").read(detectors)
    parts = [
        Evaluations(each).read(detectors)
        for each in sorted((folder / REWRITTEN).glob("*/detectors"))
    ]
    problems = tuple(problem for part in parts for problem in part.problems)
    checks = [check for part in (public, *parts) for check in part.checks]
    if len(checks) == len(public.checks) and not problems:
        return None
    kept = of_newest_code(checks)
    rules = {name: rules for part in (*parts, public) for name, rules in part.rules.items()}
    return Evaluated(
        kept, (), rules, problems, sum(part.older for part in parts) + len(checks) - len(kept)
    )


def of_expected(folders: Iterable[Path], detectors: Sequence[str] = ()) -> Evaluated | None:
    """The committed records in folders, of detectors that have some of rewritten programs, with these.

    Of each detector only those of the code of its published records; `other_code` names those of which some of
    rewritten programs are of another. None where there are no records of these. Raises ResultsError.
    """
    published: list[CheckRecord] = []
    rewritten: list[CheckRecord] = []
    rules: dict[str, Mapping[str, Rule]] = {}
    for expected in (each for each in map(ExpectedEvaluations, folders) if each.rewritten):
        public, parts = (
            expected.read(detectors),
            [each.read(detectors) for each in expected.rewritten],
        )
        published += public.checks
        rewritten += [check for part in parts for check in part.checks]
        rules |= {name: own for part in (*parts, public) for name, own in part.rules.items()}
    if not rewritten:
        return None
    kept = of_code_of(published, rewritten)
    beside = [each for each in kept if each.rewritten_as]
    rows = {_row(each) for each in beside}
    left_out = Counter(each.detector for each in rewritten) - Counter(
        each.detector for each in beside
    )
    return Evaluated(
        [each for each in kept if _row(each) in rows], (), rules, other_code=tuple(sorted(left_out))
    )


def with_further(folders: Iterable[Path], detectors: Sequence[str] = ()) -> Evaluated | None:
    """The committed records in folders, of detectors that have some by further seeds, with these.

    Those count that are of the same code as the one by the first seed of the same program, which is there, and is none
    of them; `other_code` names detectors of which some do not. None where there are none. Raises ResultsError.
    """
    parts = [
        (each.read(detectors), each.further.read(detectors))
        for each in map(ExpectedEvaluations, folders)
    ]
    published = [check for first, _ in parts for check in first.checks]
    further = [check for _, others in parts for check in others.checks]
    if not further:
        return None
    code = {(each.detector, *subject(each)[:-1]): (each.code, each.seed) for each in published}
    firsts = [(each, code.get((each.detector, *subject(each)[:-1]))) for each in further]
    kept = [
        each for each, first in firsts if first and first[0] == each.code and first[1] < each.seed
    ]
    left_out = Counter(each.detector for each in further) - Counter(each.detector for each in kept)
    names = {each.detector for each in kept}
    rules = {
        name: own
        for first, others in parts
        for part in (others, first)
        for name, own in part.rules.items()
    }
    both = [*(each for each in published if each.detector in names), *kept]
    return Evaluated(both, (), rules, other_code=tuple(sorted(left_out)))


def _row(record: CheckRecord) -> tuple[str, str]:
    return record.detector, record.references
