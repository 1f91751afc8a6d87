"""Stale records: of programs whose scripts, or parameters,
are no longer those that the detector was shown.
"""

from collections.abc import Iterable, Mapping

from evaluation.catalog.controls import Controls
from evaluation.keys import program_digest
from evaluation.model import CONTROL, SCRIPT
from evaluation.records import CheckRecord
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.execution.key import PROBE_FILES, read_scripts
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


def stale_programs(checks: Iterable[CheckRecord], catalog: Catalog) -> list[CheckRecord]:
    """The records of published programs of bugs whose scripts or parameters have changed since.

    Records that do not say which program they are of, and those of bugs that the catalogue does not
    have, count as none of them. Scores leave stale records out: another program was judged.
    """
    bugs = {bug.id: bug for bug in catalog.readable()[0]}
    digests: dict[tuple[str, str, str, int, str], str] = {}
    stale: list[CheckRecord] = []
    for check in checks:
        bug = bugs.get(check.bug)
        case = bug.cases.get(check.case) if bug else None
        if bug is None or case is None or check.program is None or check.rewritten_as:
            continue
        device = check.runtime.device.split(":")[0]
        name = (check.bug, check.case, check.kind, check.seed, device)
        if name not in digests:
            digests[name] = _bug_digest(bug, case, check)
        if check.program != digests[name]:
            stale.append(check)
    return stale


def _bug_digest(bug: Bug, case: Case, check: CheckRecord) -> str:
    """The digest of the program as it is now; empty where the case has no such variant."""
    variant = case.program.variants.get(check.kind)
    if variant is None:
        return ""
    scripts = read_scripts(bug, variant)
    files: Mapping[str, bytes] = {
        SCRIPT if name == variant.script.name else name: text
        for name, text in scripts.items()
        if name not in PROBE_FILES
    }
    return program_digest(files, effective_parameters(case, check.seed, check.runtime.device))


def _digest(case: Case, check: CheckRecord) -> str:
    text = case.program.variants["fixed"].script.read_bytes()
    return program_digest(
        {SCRIPT: text}, effective_parameters(case, check.seed, check.runtime.device)
    )
