"""How does a bug behave in other versions? Runs its buggy script in one environment after the other."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from runner import build, environment
from runner.affected import Finding, findings, mappable, version_order
from runner.catalog import Catalog
from runner.environment import Environment
from runner.errors import EnvironmentBuildError, UsageError
from runner.model import Bug, Case, Target
from runner.progress import Progress
from runner.records import VERSIONS, RunRecord, encode, version_path, version_records, write_json
from runner.session import Session
from runner.settings import Options
from runner.verification import INVALID


@dataclass(frozen=True)
class VersionMap:
    """What was found, in the order of versions, and the records behind it."""

    bug: Bug
    findings: tuple[Finding, ...]
    records: tuple[RunRecord, ...]


def map_versions(
    catalog: Catalog,
    names: Sequence[str],
    pattern: str,
    options: Options,
    progress: Progress,
    remove_after: bool = False,
) -> list[VersionMap]:
    """Run the buggy scripts of each BUG or BUG/CASE in every environment whose name matches `pattern`.

    The first seed of each case is run, unless `options` name others. An environment that cannot be built makes its
    rows INVALID, and the next one is tried. With `remove_after`, environments that were not there before are removed
    after use, together with what was downloaded for them. Returns a map for each bug; raises UsageError where nothing
    matches.
    """
    targets = [target for name in dict.fromkeys(names) for target in _targets(catalog, name)]
    chosen = _environments(catalog.root, pattern)
    unbuilt: list[tuple[Environment, str]] = []
    records: list[RunRecord] = []
    for number, described in enumerate(chosen, 1):
        there = environment.find(described) is not None
        progress.line(f"environment {number} of {len(chosen)}: {described.name}")
        try:
            session = Session(catalog, replace(options, environment=described.name, keep=not remove_after), progress)
            records += session.records(targets)
        except EnvironmentBuildError as error:
            unbuilt.append((described, str(error)))
        finally:
            if remove_after and not there:
                build.remove(described)
    bugs = {target.bug.id: target.bug for target in targets}
    cases = {name: [target.case for target in targets if target.bug.id == name] for name in bugs}
    return [_map(bug, cases[name], records, unbuilt) for name, bug in bugs.items()]


def save_expected(made: VersionMap) -> list[Path]:
    """Keep the records of a map, failed runs included, as the bug's expected ones, in the place of earlier ones.

    Raises UsageError where an environment of the earlier map is missing or not as pinned, or files are not committed.
    """
    mapped = {record.environment for record in made.records}
    lacking = {record.environment for record in version_records(made.bug)} - mapped
    lacking |= {item.environment for item in made.findings} - mapped
    if lacking:
        raise UsageError(f"the map of {made.bug.id} lacks {', '.join(sorted(lacking))}: expected/ stays as it is")
    if not all(record.pinned for record in made.records):
        raise UsageError(f"{made.bug.id} was not run in pinned environments: expected/ stays as it is")
    if any((record.revision or "").endswith("-dirty") for record in made.records):
        raise UsageError(f"{made.bug.id} was run from files that are not committed: commit, then run with --force")
    # Every environment of the earlier map is in this one.
    shutil.rmtree(made.bug.expected / VERSIONS, ignore_errors=True)
    written = [(version_path(made.bug, record), record) for record in made.records]
    for path, record in written:
        write_json(path, encode(record))
    return [path for path, _ in written]


def _map(
    bug: Bug, cases: Sequence[Case], records: Sequence[RunRecord], unbuilt: Sequence[tuple[Environment, str]]
) -> VersionMap:
    own = tuple(record for record in records if record.bug == bug.id)
    found = findings(bug, own)
    for described, reason in unbuilt:
        torch = described.pins.get("torch", "-")
        found += [Finding(described.name, torch, case.name, INVALID, reason) for case in cases]
    return VersionMap(bug, tuple(sorted(found, key=lambda item: version_order(item.torch))), own)


def _targets(catalog: Catalog, name: str) -> list[Target]:
    targets = catalog.select([name], elsewhere=True)
    if len(targets[0].variants) == 1:
        raise UsageError(f"{name}: a map of versions is of the buggy variant; name BUG or BUG/CASE")
    if len(targets) > 1:
        targets = [target for target in targets if mappable(target.case)]
    if not targets or not all(mappable(target.case) for target in targets):
        raise UsageError(f"{name}: its expectations compare the variants; the buggy script cannot be judged alone")
    firsts = [replace(target.case, seeds=target.case.seeds[:1]) for target in targets]
    return [replace(target, variants=("buggy",), case=case) for target, case in zip(targets, firsts, strict=True)]


def _environments(root: Path, pattern: str) -> list[Environment]:
    found = [environment.load(root, name) for name in environment.names(root) if fnmatchcase(name, pattern)]
    if not found:
        known = ", ".join(environment.names(root)) or "(none)"
        raise UsageError(f"no environment matches {pattern!r}; expected a pattern like 'torch-2.*' for some of {known}")
    return sorted(found, key=lambda item: version_order(item.pins.get("torch", "")))
