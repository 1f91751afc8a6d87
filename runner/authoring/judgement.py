"""Checks of the expectations by the committed records: they hold, and tell the variants apart.

Nothing is run.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from runner.bugs.case import Case
from runner.bugs.figures import Line
from runner.bugs.program import VARIANTS
from runner.errors import MeasureError
from runner.expectations.checks import ExpectationCheck
from runner.expectations.series import measure, select
from runner.results.record import RunRecord
from runner.verdicts.complete_runs import flaw
from runner.verdicts.verdict import NOT_REPRODUCED, REPRODUCED, unjudged, verify


def check_verdicts(case: Case, records: Sequence[RunRecord]) -> Iterator[str]:
    """The records say REPRODUCED, and NOT REPRODUCED with the records of one variant in the place
    of the other's.

    A benign case is left out of the second. Records that are not of whole runs are judged by
    nobody.
    """
    if unjudged(case) or any(flaw(case, record) for record in records):
        return
    verdict = verify(case, records)
    yield from _failures(case, verdict.checks)
    if verdict.outcome != REPRODUCED or case.benign:
        return
    for source in VARIANTS:
        target = next(variant for variant in VARIANTS if variant != source)
        source_records = [record for record in records if record.variant == source]
        target_records = [replace(record, variant=target) for record in source_records]
        swapped = verify(case, [*source_records, *target_records])
        if swapped.outcome != NOT_REPRODUCED:
            yield (
                f"case {case.name}: with the expected {source} records in the place of the "
                f"{target} ones it is {swapped.outcome} ({swapped.reason}), expected "
                f"{NOT_REPRODUCED}: no expectation tells them apart"
            )


def _failures(case: Case, checks: Iterable[ExpectationCheck]) -> Iterator[str]:
    """A line for each expectation that fails: of the first seed with which it does."""
    reported = set()
    for check in checks:
        if check.holds or id(check.expectation) in reported:
            continue
        reported.add(id(check.expectation))
        verb = "does not hold of" if check.holds is False else "cannot be decided by"
        message = (
            f"{check.expectation.statement!r} {verb} the expected records: {check.seeds}: "
            f"{check.explanation}"
        )
        yield f"case {case.name}: {message}; mend config.json, or make the records anew"


def check_lines(case: Case, records: Iterable[RunRecord]) -> Iterator[str]:
    """Every metric that a figure of curves names is in the records."""
    records = list(records)
    panels = () if case.plot.heatmap else case.plot.panels
    for number, line in [
        (number, line) for number, panel in enumerate(panels) for line in panel.lines
    ]:
        problem = next(_lack(case, line, records), None)
        if problem:
            yield f"case {case.name}: plot.panels[{number}], line {line.label!r}: {problem}"


def _lack(case: Case, line: Line, records: Sequence[RunRecord]) -> Iterator[str]:
    for record in records:
        by_variant = {twin.variant: twin.metrics for twin in records if twin.seed == record.seed}
        try:
            select(case.plot.x, line.where, record.metrics, record.variant)
            measure(line, record.variant, by_variant)
        except MeasureError as error:
            yield f"seed {record.seed}: {error}"
