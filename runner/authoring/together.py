"""Whether committed records belong together: made at one commit, and without gaps."""

from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

from runner.authoring.current import environment_at
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.files.schema_errors import near
from runner.results.record import RunRecord


def check_revisions(folder: str, records: Iterable[RunRecord], again: str) -> Iterator[str]:
    """Records that are promoted together were made at one commit; others are a mixture of two
    promotions.
    """
    revisions = sorted({record.revision or "no commit" for record in records})
    if len(revisions) > 1:
        shown = ", ".join(revision[:12] for revision in revisions)
        yield f"{folder}: its records are of several commits ({shown}); {again} makes them anew"


def check_whole_map(
    bug: Bug, records: Sequence[RunRecord], versions: Set[str], again: str
) -> Iterator[str]:
    """Each environment of a map has the same cases and seeds, at one commit, and each affected
    version is among those of the records.

    Environments may be of several commits: another one is added to a map without running all of the
    others again.
    """
    by_environment: dict[str, list[RunRecord]] = {}
    for record in records:
        by_environment.setdefault(record.runtime.environment, []).append(record)
    all_runs = {(record.case, record.seed) for record in records}
    for environment, present in sorted(by_environment.items()):
        absent = all_runs - {(record.case, record.seed) for record in present}
        if absent:
            case, seed = min(absent)
            yield (
                f"expected/versions/{environment} lacks {case}, seed {seed}, which others have; "
                f"{again} makes it"
            )
        yield from check_revisions(f"expected/versions/{environment}", present, again)
    declared = set(bug.affected.versions) if bug.affected and records else set()
    for version in sorted(declared - versions):
        yield (
            f"config.json: affected names {version}, and expected/versions has no record of it; "
            f"{again} makes one"
        )


def check_affected(bug: Bug, case: Case, records: Iterable[RunRecord], root: Path) -> Iterator[str]:
    """A release in which the buggy script showed the fault of a package is among the affected
    ones.
    """
    if bug.declared is None or bug.declared.code_at_fault != "installed":
        return
    if bug.affected is None:
        yield (
            "affected is missing: the package at fault, and the releases that the records show it "
            "in"
        )
        return
    declared = set(bug.affected.versions)
    places = {record.runtime.environment for record in records if record.variant == "buggy"}
    for place in sorted(places):
        environment = environment_at(root, case.program.variants["buggy"].place)
        version = (
            environment.pins.get(bug.package) if environment and environment.name == place else None
        )
        if version and version not in declared:
            yield (
                f"config.json: expected/{case.name} shows the fault in {bug.package} {version}; "
                "add it to affected"
            )


def check_versions(bug: Bug, root: Path) -> Iterator[str]:
    """The package of `affected` is in the environment, and no release both has the fault and the
    fix.
    """
    if bug.affected is None:
        return
    package, affected = bug.affected.package, set(bug.affected.versions)
    environment = environment_at(root, str(bug.brought or bug.environment))
    if environment and package not in environment.pins:
        suggestion = near(package, environment.pins)
        yield f"config.json: affected.package is {package!r}, not in {environment.name}{suggestion}"
    if bug.fixed and bug.fixed.package == package:
        for version in sorted(affected & set(bug.fixed.versions)):
            yield f"config.json: affected and fixed both name {package} {version}"
