"""Checks of the expectation that states the harm: what it judges,
and that it tells the variants apart.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from runner.authoring.current import PresentFiles
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.program import VARIANTS
from runner.errors import MeasureError, TrainbugsError
from runner.execution.key import run_key
from runner.expectations.checks import check_seeds
from runner.expectations.expectation import Expectation
from runner.results.record import RunRecord
from runner.studies import horizon
from runner.studies.horizon import HorizonRow
from runner.verdicts.verdict import metrics_by_seed

# Effects that no program prints: a probe may measure the harm.
UNSEEN_EFFECTS = ("no learning", "diverging replicas", "wrong resume")
# Effects without harm to what is learnt.
HARMLESS_EFFECTS = ("wasted work",)
# Kinds of harm whose length of training is the report's, or the example's of the package.
LONG_ENOUGH = ("reported", "measured")


class MetricNames(NamedTuple):
    """Names of metrics that a program writes, and beginnings of names that it completes."""

    names: frozenset[str]
    beginnings: tuple[str, ...]

    def may_have(self, metric: str) -> bool:
        """Whether the program may write a metric of that name."""
        return metric in self.names or metric.startswith(self.beginnings)


def needs_harm(bug: Bug, case: Case) -> bool:
    """Whether an expectation of the case has to state the harm."""
    return not (case.benign or case.never_run or bug.labels.effect in HARMLESS_EFFECTS)


def check_harm(bug: Bug, case: Case, records: Sequence[RunRecord]) -> Iterator[str]:
    """One expectation is marked as the harm, on what the buggy script prints, with each seed."""
    marked = [item for item in case.oracle.expectations if item.harm]
    if not needs_harm(bug, case):
        if marked:
            yield (
                f"case {case.name}: {marked[0].statement!r} is marked as the harm, and no harm is "
                "expected"
            )
        return
    if len(marked) != 1:
        yield f"case {case.name}: {len(marked)} expectations are marked `harm`, expected one"
        return
    expectation = marked[0]
    yield from _check_printed(bug, case, expectation)
    yield from _check_seeds(case, expectation, records)
    yield from _check_horizon(bug, case, records)


def _check_printed(bug: Bug, case: Case, expectation: Expectation) -> Iterator[str]:
    if bug.labels.effect in UNSEEN_EFFECTS:
        return
    if bug.probe is None or not metric_names([bug.probe]).may_have(expectation.metric):
        return
    scripts = [case.program.variants["buggy"].script, *bug.shared]
    if not metric_names(scripts).may_have(expectation.metric):
        yield (
            f"case {case.name}: the harm is stated on {expectation.metric}, which probe.py "
            "measures and the buggy script does not print; name a metric that a user sees"
        )


def metric_names(scripts: Sequence[Path]) -> MetricNames:
    """The names that programs give to metrics: keys of dictionaries that they write out or fill."""
    names: set[str] = set()
    beginnings: set[str] = set()
    for script in scripts:
        for key in _keys(ast.parse(script.read_text(encoding="utf-8"))):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                names.add(key.value)
            elif isinstance(key, ast.JoinedStr) and isinstance(key.values[0], ast.Constant):
                beginnings.add(str(key.values[0].value))
    return MetricNames(frozenset(names), tuple(beginnings))


def _keys(tree: ast.Module) -> Iterator[ast.expr]:
    """The keys of dictionaries in a program: of displays, of `dict(...)`,
    of what is assigned by a key.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from filter(None, node.keys)
        elif isinstance(node, ast.DictComp):
            yield node.key
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield node.slice
        elif isinstance(node, ast.keyword) and node.arg:
            yield ast.Constant(node.arg)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip":
            yield from _elements(node)


def _elements(call: ast.Call) -> Iterator[ast.expr]:
    """The names in tuples and lists that are zipped with values."""
    for argument in call.args:
        if isinstance(argument, ast.Tuple | ast.List):
            yield from argument.elts


def _check_seeds(
    case: Case, expectation: Expectation, records: Sequence[RunRecord]
) -> Iterator[str]:
    """With the records of the two variants exchanged, the expectation fails with each seed."""
    if expectation.across_seeds:
        yield (
            f"case {case.name}: {expectation.statement!r} is marked as the harm, and is about all "
            "seeds together"
        )
        return
    exchanged = [replace(record, variant=_other(record.variant)) for record in records]
    for check in check_seeds(expectation, metrics_by_seed(exchanged)):
        if check.holds:
            yield (
                f"case {case.name}: {expectation.statement!r} holds of the fixed program, too "
                f"({check.seeds}), and is marked as the harm"
            )


def _check_horizon(bug: Bug, case: Case, records: Sequence[RunRecord]) -> Iterator[str]:
    """Runs of twice the length are there, of the present files, and `late` is what they say."""
    harm = case.harm
    if harm is None:
        return
    if harm.length is None:
        if harm.kind in LONG_ENOUGH:
            return
        yield (
            f"case {case.name}: harm is {harm.kind} and names no length; name the parameter, "
            "and run `trainbugs horizon`"
        )
        return
    again = f"`trainbugs horizon {bug.id} --update-expected` makes it"
    try:
        table = horizon.read(bug)
        if not table:
            yield f"case {case.name}: there is no expected/{horizon.FILE}; {again}"
            return
        late = horizon.is_late(case, table, records)
    except (TrainbugsError, MeasureError) as error:
        yield f"case {case.name}: {error}; {again} anew"
        return
    if late != harm.late:
        yield f"case {case.name}: harm.late is {harm.late}, and expected/{horizon.FILE} says {late}"


def check_horizon_keys(bug: Bug, root: Path) -> Iterator[str]:
    """The runs of twice the length are of the present scripts, parameters and locks."""
    try:
        table = horizon.read(bug)
        doubled = {target.case.name: target.case for target in horizon.horizon_targets(bug)}
    except TrainbugsError as error:
        yield str(error)
        return
    present = PresentFiles(bug, root)
    for row in table:
        single = bug.cases.get(row.case)
        case = doubled.get(horizon.horizon_name(single)) if single else None
        if case is None or not _is_current(present, case, row):
            yield (
                f"expected/{horizon.FILE}: {row.case}, {row.variant} seed {row.seed} is of other "
                f"files; `trainbugs horizon {bug.id} --update-expected` makes it anew"
            )
            return


def _is_current(present: PresentFiles, case: Case, row: HorizonRow) -> bool:
    """Whether the first digits of the key are those of the present files."""
    environment = present.environment(case.program.variants[row.variant].place)
    if environment is None:
        return True  # Another check says so.
    runtime = (environment.name, environment.lock_hash, str(True), row.python, row.torch or None)
    scripts = present.scripts(case, row.variant)
    key = run_key(case, row.variant, scripts, row.seed, "cpu", runtime, row.data or None)
    return key[: horizon.KEY_LENGTH] == row.key


def _other(variant: str) -> str:
    return next(name for name in VARIANTS if name != variant)
