"""Sweeps over versions: the buggy scripts of bugs, run in one environment after the other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import structs

from runner.bugs.bug import Bug, Target
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.environments import builder, spec
from runner.environments.spec import Environment
from runner.errors import EnvironmentBuildError, UsageError
from runner.progress.lines import Progress
from runner.results.record import RunRecord
from runner.session.options import Options
from runner.session.selection import without_gpu_cases
from runner.session.session import Session
from runner.verdicts.affected import VersionFinding, findings, mappable, version_order
from runner.verdicts.verdict import INVALID


@dataclass(frozen=True)
class BugVersions:
    """The findings about a bug, in the order of versions, and the records behind them."""

    bug: Bug
    findings: tuple[VersionFinding, ...]
    records: tuple[RunRecord, ...]


def map_versions(
    catalog: Catalog,
    names: Sequence[str],
    pattern: str | None,
    options: Options,
    progress: Progress,
    remove_after: bool = False,
) -> list[BugVersions]:
    """Run the buggy scripts of each BUG or BUG/CASE in every environment whose name matches
    `pattern`.

    Without a pattern, in those of the releases of the bug's package: `torch-[0-9]*`, for most. The
    first seed of each case is run, unless `options` name others. An environment that cannot be
    built makes its rows INVALID, and the next one is tried. With `remove_after`, environments that
    were not there before are removed after use, together with what was downloaded for them. Returns
    a map for each bug; raises UsageError where nothing matches.
    """
    targets = [target for name in dict.fromkeys(names) for target in _targets(catalog, name)]
    targets, notes = without_gpu_cases(targets, names, options)
    for note in notes:
        progress.note(note)
    environments = _environments(catalog.root, {target.bug.package: pattern for target in targets})
    unbuilt: list[tuple[Environment, str]] = []
    records: list[RunRecord] = []
    for number, environment in enumerate(environments, 1):
        is_built = spec.find(environment) is not None
        progress.line(f"environment {number} of {len(environments)}: {environment.name}")
        fitting = [target for target in targets if _fits(environment, target.bug, pattern)]
        environment_options = replace(options, environment=environment.name, keep=not remove_after)
        try:
            session = Session(catalog, environment_options, progress)
            records += session.records(fitting)
        except EnvironmentBuildError as error:
            unbuilt.append((environment, str(error)))
        finally:
            if remove_after and not is_built:
                builder.remove(environment)
    return _maps(targets, records, unbuilt, pattern)


def _maps(
    targets: Iterable[Target],
    records: Sequence[RunRecord],
    unbuilt: Sequence[tuple[Environment, str]],
    pattern: str | None,
) -> list[BugVersions]:
    """The map of each bug."""
    bugs: dict[str, Bug] = {}
    cases: dict[str, list[Case]] = {}
    for target in targets:
        bugs[target.bug.id] = target.bug
        cases.setdefault(target.bug.id, []).append(target.case)
    maps = []
    for name, bug in bugs.items():
        bug_unbuilt = [item for item in unbuilt if _fits(item[0], bug, pattern)]
        maps.append(_map(bug, cases[name], records, bug_unbuilt))
    return maps


def _map(
    bug: Bug,
    cases: Sequence[Case],
    records: Sequence[RunRecord],
    unbuilt: Sequence[tuple[Environment, str]],
) -> BugVersions:
    bug_records = tuple(record for record in records if record.bug == bug.id)
    results = findings(bug, bug_records)
    for environment, reason in unbuilt:
        version = environment.pins.get(bug.package, "-")
        results += [
            VersionFinding(environment.name, version, case.name, INVALID, reason) for case in cases
        ]
    ordered = sorted(results, key=lambda finding: version_order(finding.version))
    return BugVersions(bug, tuple(ordered), bug_records)


def _targets(catalog: Catalog, name: str) -> list[Target]:
    targets = catalog.select([name], elsewhere=True)
    if len(targets[0].variants) == 1:
        raise UsageError(f"{name}: a map of versions is of the buggy variant; name BUG or BUG/CASE")
    if len(targets) > 1:
        targets = [target for target in targets if mappable(target.case)]
    if not targets or not all(mappable(target.case) for target in targets):
        raise UsageError(
            f"{name}: its expectations compare the variants; the buggy script cannot be judged "
            "alone"
        )
    return [Target(target.bug, _first_seed(target.case), ("buggy",)) for target in targets]


def _fits(environment: Environment, bug: Bug, pattern: str | None) -> bool:
    return fnmatchcase(environment.name, pattern or spec.pattern_of(bug.package))


def _environments(root: Path, patterns: Mapping[str, str | None]) -> list[Environment]:
    """The environments of these packages, each by its pattern, in the order of versions."""
    environments: dict[str, Environment] = {}
    for package, pattern in patterns.items():
        glob = pattern or spec.pattern_of(package)
        names = [name for name in spec.names(root) if fnmatchcase(name, glob)]
        if not names:
            all_names = ", ".join(spec.names(root)) or "(none)"
            raise UsageError(
                f"no environment matches {glob!r}; expected a pattern like 'torch-2.*' for some of "
                f"{all_names}"
            )
        versions: dict[str, tuple[int, ...]] = {}
        matches = {name: spec.load(root, name) for name in names}
        for name, environment in matches.items():
            versions[name] = version_order(environment.pins.get(package, ""))
        for name in sorted(names, key=lambda name: versions[name]):
            environments[name] = matches[name]
    return list(environments.values())


def _first_seed(case: Case) -> Case:
    return structs.replace(
        case, program=structs.replace(case.program, seeds=case.program.seeds[:1])
    )
