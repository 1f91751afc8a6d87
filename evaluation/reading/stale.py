"""Stale records: of controls whose script, or parameters,
are no longer those that the detector was shown.
"""

from collections.abc import Iterable

from evaluation.catalog.controls import Controls
from evaluation.keys import program_digest
from evaluation.model import CONTROL, SCRIPT
from evaluation.records import CheckRecord
from runner.bugs.case import Case
from runner.execution.run import effective_parameters


def stale_controls(checks: Iterable[CheckRecord], controls: Controls) -> list[CheckRecord]:
    """The records of published controls that are of another program than the control of that name
    is now.

    A record that does not say which program it is of counts as none of them, and so does one of a
    control that there is no more. Scores count stale records: the program was right then, too.
    """
    cases = controls.bug.cases
    published = [check for check in checks if check.kind == CONTROL and not check.rewritten_as]
    return [
        check
        for check in published
        if check.program
        and check.case in cases
        and check.program != _digest(cases[check.case], check)
    ]


def _digest(case: Case, check: CheckRecord) -> str:
    text = case.program.variants["fixed"].script.read_bytes()
    return program_digest(
        {SCRIPT: text}, effective_parameters(case, check.seed, check.runtime.device)
    )
