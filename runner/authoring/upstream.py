"""Checks of the variant `upstream`: it is there where it can be, and behaves as the fixed one
does.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from runner.authoring.current import PresentFiles, check_digests, environment_at, is_current
from runner.authoring.together import check_revisions
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.bugs.program import UPSTREAM
from runner.environments import spec
from runner.environments.spec import Environment
from runner.errors import ResultsError
from runner.results.expected import CPU, CUDA, expected_records, upstream_records
from runner.results.record import RunRecord, run_name
from runner.verdicts.verdict import verify_upstream


def check_upstream(bug: Bug, root: Path) -> Iterator[str]:
    """Each case has the variant if a release with the real fix has an environment here, and its
    records hold.
    """
    for case in bug.cases.values():
        if UPSTREAM in case.program.variants:
            yield from _check_records(bug, case, root)
            continue
        # All environments are looked at, so this is asked only where it matters.
        mended = _mended(bug, root) if case.portable and not case.benign else None
        if mended:
            yield (
                f"case {case.name} has no variant {UPSTREAM}: the real fix is in {mended.name}; "
                f'add "{UPSTREAM}": {{"environment": "{mended.name}"}}, and run it by '
                "`trainbugs run --upstream`"
            )


def _mended(bug: Bug, root: Path) -> Environment | None:
    """An environment with the real fix: the first release in `fixed` that has one here.

    If several environments have that release, an environment of the package itself comes first.
    None where no environment has the fix.
    """
    if bug.fixed is None:
        return None
    pattern = spec.pattern_of(bug.fixed.package)
    names = sorted(spec.names(root), key=lambda name: not fnmatchcase(name, pattern))
    by_version: dict[str | None, Environment] = {}
    for environment in filter(None, (environment_at(root, name) for name in names)):
        by_version.setdefault(environment.pins.get(bug.fixed.package), environment)
    for version in bug.fixed.versions:
        if version in by_version:
            return by_version[version]
    return None


def _check_records(bug: Bug, case: Case, root: Path) -> Iterator[str]:
    again = (
        f"`trainbugs run {Catalog(root).shell_name(bug)}/{case.name}/{UPSTREAM} --force "
        "--update-expected`"
    )
    folder = f"expected/{case.name}/{UPSTREAM}"
    device = CUDA if "gpu" in case.program.tools else CPU
    try:
        records = upstream_records(bug, case.name, device)
        pair = expected_records(bug, case.name, device)
    except ResultsError as error:
        yield str(error)
        return
    if device == CUDA and not records:
        return  # seen on no device yet
    if {record.seed for record in records if record.ok} != set(case.program.seeds):
        yield (
            f"{folder} has runs of {len(records)} of {len(case.program.seeds)} seeds; {again} "
            "makes them"
        )
        return
    stale: list[str] = []
    present = PresentFiles(bug, root)
    for record in records:
        place = case.program.variants[UPSTREAM].place
        if device == CUDA:
            place = record.runtime.environment
        if not is_current(present, case, record, place):
            stale.append(run_name(record))
    if stale:
        yield (
            f"{folder}/{stale[0]}.json is of other scripts, parameters or another lock; {again} "
            "makes them anew"
        )
    yield from check_digests(folder, records, again)
    yield from check_revisions(folder, records, again)
    yield from _check_behaviour(case, [*records, *pair])


def _check_behaviour(case: Case, records: list[RunRecord]) -> Iterator[str]:
    judged = verify_upstream(case, records)
    if judged and not judged.behaves:
        yield f"case {case.name}: {UPSTREAM} does not behave as fixed: {judged.reason}"
