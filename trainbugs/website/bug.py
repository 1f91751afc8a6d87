"""What the page of a bug shows: its cases with what was observed, scripts side by side, releases, answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.program import UPSTREAM, VARIANTS
from runner.environments.spec import releases
from runner.errors import MeasureError, ResultsError, TrainbugsError
from runner.expectations.expectation import Expectation
from runner.files import untrusted
from runner.results.expected import (
    CPU,
    expected_records,
    seconds,
    seen_on,
    upstream_records,
    version_records,
)
from runner.results.record import RunRecord
from runner.studies.definition import names as studies
from runner.verdicts.affected import AFFECTED, VersionFinding, findings, version_order
from runner.verdicts.verdict import REPRODUCED, Upstream, Verdict, verify, verify_upstream
from trainbugs.website import chart
from trainbugs.website.diff import Row, rows

MAX_SCRIPT_BYTES = 1_000_000


@dataclass(frozen=True)
class Observed:
    """An expectation, and what the records of each seed say of it; `holds` is None where one is undecided."""

    expectation: Expectation
    wanted: str
    values: tuple[tuple[str, str], ...]
    holds: bool | None


@dataclass(frozen=True)
class Runs:
    """The records of a case on one kind of device, judged."""

    device: str
    verdict: Verdict
    observed: tuple[Observed, ...]
    panels: tuple[chart.Drawn, ...]
    records: tuple[RunRecord, ...]
    no_curves: str = ""
    upstream: Upstream | None = None
    upstream_torch: str = ""

    @property
    def reproduced(self) -> bool:
        """Whether all expectations hold."""
        return self.verdict.outcome == REPRODUCED

    @property
    def made(self) -> str:
        """With what and when the records were made, in words."""
        torch = sorted({record.runtime.torch for record in self.records if record.runtime.torch})
        days = sorted({record.started[:10] for record in self.records})
        device = sorted({record.device_name or record.runtime.device for record in self.records})
        parts = [f"torch {', '.join(torch)}"] if torch else []
        return ", ".join(
            [
                *parts,
                f"on {', '.join(device)}",
                days[0] if len(set(days)) == 1 else f"{days[0]} to {days[-1]}",
            ]
        )


@dataclass(frozen=True)
class CasePart:
    """A case, the picture that is committed of it, and its records by device."""

    case: Case
    seconds: float | None
    runs: tuple[Runs, ...]
    picture: str | None
    problem: str = ""

    @property
    def reproduced(self) -> bool:
        """Whether committed records reproduce it, on one kind of device at least."""
        return any(runs.reproduced for runs in self.runs)


@dataclass(frozen=True)
class Pair:
    """Two scripts side by side, and the cases that run them."""

    left: str
    right: str
    cases: tuple[str, ...]
    rows: tuple[Row, ...]
    problem: str = ""


@dataclass(frozen=True)
class VersionMap:
    """What the buggy script does in each release: a finding by case and release."""

    package: str
    versions: tuple[str, ...]
    cases: Mapping[str, Mapping[str, VersionFinding]]


@dataclass(frozen=True)
class BugPart:
    """All that is read of a bug; `problems` has a line for each file that cannot be read."""

    bug: Bug
    cases: tuple[CasePart, ...]
    pairs: tuple[Pair, ...]
    versions: VersionMap | None
    studies: tuple[str, ...]
    problems: tuple[str, ...] = field(default=())

    @property
    def seen_in(self) -> list[str]:
        """The releases in which records show it: those of the map, and those of its expected records."""
        found = {
            item.version
            for row in (self.versions.cases.values() if self.versions else ())
            for item in row.values()
            if item.state == AFFECTED
        }
        if self.bug.package == "torch":
            found |= {(record.runtime.torch or "-").split("+")[0] for record in self._shows}
        return [
            f"{self.bug.package} {version}" for version in sorted(found - {"-"}, key=version_order)
        ]

    @property
    def seconds(self) -> float | None:
        """Wall seconds of all expected runs together."""
        known = [part.seconds for part in self.cases if part.seconds is not None]
        return sum(known) if known else None

    @property
    def _shows(self) -> list[RunRecord]:
        """The buggy runs of what is reproduced: only these show the bug."""
        judged = [runs for part in self.cases for runs in part.runs if runs.reproduced]
        return [record for runs in judged for record in runs.records if record.variant == "buggy"]


def read(bug: Bug, root: Path) -> BugPart:
    """Everything about a bug; a record that cannot be read is a problem of its part, and stops no other."""
    problems: list[str] = []
    cases = tuple(_case(bug, case) for case in bug.cases.values())
    problems += [part.problem for part in cases if part.problem]
    try:
        versions = _versions(bug, root)
    except TrainbugsError as error:
        versions = None
        problems.append(str(error))
    pairs = _pairs(bug)
    problems += [pair.problem for pair in pairs if pair.problem]
    return BugPart(bug, cases, pairs, versions, tuple(studies(bug)), tuple(problems))


def _case(bug: Bug, case: Case) -> CasePart:
    name = f"compare_{case.name}.png"
    picture = name if (bug.expected / name).is_file() else None
    try:
        runs = tuple(
            judged(case, expected_records(bug, case.name, device), device)
            for device in seen_on(bug, case.name)
        )
        runs = tuple(
            _with_upstream(each, upstream_records(bug, case.name, each.device)) for each in runs
        )
    except ResultsError as error:
        return CasePart(case, None, (), picture, str(error))
    return CasePart(case, seconds(bug, case), runs, picture)


def judged(case: Case, records: Sequence[RunRecord], device: str = CPU) -> Runs:
    """Records of a case with their verdict, what was observed, and curves where there can be any."""
    verdict = verify(case, records)
    try:
        panels, problem = tuple(chart.panels(case, records)), ""
    except (MeasureError, ValueError, ArithmeticError) as error:
        panels, problem = (), untrusted.brief(str(error))
    if case.plot.heatmap:
        problem = ""
    return Runs(device, verdict, tuple(_observed(verdict)), panels, tuple(records), problem)


def _with_upstream(runs: Runs, upstream: Sequence[RunRecord]) -> Runs:
    from dataclasses import replace

    if not upstream:
        return runs
    buggy = [record for record in runs.records if record.variant == "buggy"]
    said = verify_upstream(runs.verdict.case, [*buggy, *upstream])
    torch = ", ".join(sorted({record.runtime.torch for record in upstream if record.runtime.torch}))
    return replace(runs, upstream=said, upstream_torch=torch)


def _observed(verdict: Verdict) -> list[Observed]:
    made = []
    for expectation in verdict.case.oracle.expectations:
        checks = [check for check in verdict.checks if check.expectation is expectation]
        wanted = next((check.expected for check in checks if check.expected), "")
        values = [(check.seeds, check.observed or check.explanation) for check in checks]
        holds = [check.holds for check in checks]
        made.append(
            Observed(
                expectation,
                wanted,
                tuple(values),
                None if None in holds or not holds else all(holds),
            )
        )
    return made


def _pairs(bug: Bug) -> tuple[Pair, ...]:
    cases: dict[tuple[Path, Path], list[str]] = {}
    for case in bug.cases.values():
        left, right = (case.program.variants[name].script for name in VARIANTS)
        cases.setdefault((left, right), []).append(case.name)
    return tuple(_pair(left, right, tuple(names), bug) for (left, right), names in cases.items())


def _pair(left: Path, right: Path, cases: tuple[str, ...], bug: Bug) -> Pair:
    texts = []
    for path in (left, right):
        try:
            texts.append(untrusted.read_text(path, MAX_SCRIPT_BYTES, bug.directory))
        except untrusted.UnsafeError as error:
            return Pair(left.name, right.name, cases, (), f"{bug.id}/{path.name}: {error}")
    return Pair(left.name, right.name, cases, tuple(rows(*texts)))


def _versions(bug: Bug, root: Path) -> VersionMap | None:
    found = findings(bug, version_records(bug))
    if not found:
        return None
    versions = sorted(
        {*(item.version for item in found), *releases(root, bug.package)}, key=version_order
    )
    cases = {
        name: {item.version: item for item in found if item.case == name} for name in bug.cases
    }
    return VersionMap(
        bug.package, tuple(versions), {name: row for name, row in cases.items() if row}
    )


def commands(part: BugPart) -> list[tuple[str, str]]:
    """How to run a bug: commands, and what each does."""
    bug = part.bug
    lines = [
        (f"trainbugs run {bug.id}", "runs both variants of all its cases, and says what it sees")
    ]
    if any("data" in case.program.needs for case in bug.cases.values()):
        lines[0] = (f"trainbugs run {bug.id} --data DIR", f"{lines[0][1]}, with data sets from DIR")
    lines.append((f"trainbugs checkout {bug.id} copy", "makes a copy that runs by hand"))
    if bug.why:
        lines.append(
            (f"trainbugs why {bug.id}", "shows the root cause in the release that runs it")
        )
    if bug.fault:
        lines.append(
            (
                f"trainbugs run {bug.id} --inject --environment NAME",
                "puts the fault into another release",
            )
        )
    if any(UPSTREAM in case.program.variants for case in bug.cases.values()):
        lines.append(
            (f"trainbugs run {bug.id} --upstream", "runs the release with the real fix, too")
        )
    if part.versions:
        lines.append((f"trainbugs versions {bug.id}", "makes the map of versions"))
    lines += [(f"trainbugs study {bug.id}/{name}", "runs the study") for name in part.studies]
    return lines
