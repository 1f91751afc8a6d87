"""What the page of a bug shows: its cases with what was observed, scripts side by side, releases,
answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluation.repair import further_seeds
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
    recorded_devices,
    seconds,
    upstream_records,
    version_records,
)
from runner.results.record import RunRecord
from runner.studies.definition import names as studies
from runner.verdicts.affected import AFFECTED, VersionFinding, findings, version_order
from runner.verdicts.verdict import REPRODUCED, Upstream, Verdict, verify, verify_upstream
from trainbugs.website import chart
from trainbugs.website.diff import DiffRow, rows

MAX_SCRIPT_BYTES = 1_000_000


@dataclass(frozen=True)
class Observed:
    """An expectation, and what the records of each seed say of it;
    `holds` is None where one is undecided.
    """

    expectation: Expectation
    expected: str
    values: tuple[tuple[str, str], ...]
    holds: bool | None


@dataclass(frozen=True)
class Runs:
    """The records of a case on one kind of device, judged."""

    device: str
    verdict: Verdict
    observed: tuple[Observed, ...]
    panels: tuple[chart.PanelChart, ...]
    records: tuple[RunRecord, ...]
    no_curves: str = ""
    upstream: Upstream | None = None
    upstream_torch: str = ""

    @property
    def reproduced(self) -> bool:
        """Whether all expectations hold."""
        return self.verdict.outcome == REPRODUCED

    @property
    def provenance(self) -> str:
        """With what and when the records were made, in words."""
        releases = sorted({run.runtime.torch for run in self.records if run.runtime.torch})
        days = sorted({run.started[:10] for run in self.records})
        devices = sorted({run.device_name or run.runtime.device for run in self.records})
        parts = [f"torch {', '.join(releases)}"] if releases else []
        period = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        return ", ".join([*parts, f"on {', '.join(devices)}", period])


@dataclass(frozen=True)
class CasePart:
    """A case, the picture that is committed of it, and its records by device."""

    case: Case
    seconds: float | None
    runs: tuple[Runs, ...]
    picture: str | None
    problem: str = ""

    @property
    def further_seeds(self) -> str | None:
        """With how many further seeds it behaves, in words; None where that is not known."""
        return further_seeds.steadiness(self.case)

    @property
    def reproduced(self) -> bool:
        """Whether committed records reproduce it, on one kind of device at least."""
        return any(runs.reproduced for runs in self.runs)


@dataclass(frozen=True)
class ScriptPair:
    """Two scripts side by side, and the cases that run them."""

    left: str
    right: str
    cases: tuple[str, ...]
    rows: tuple[DiffRow, ...]
    problem: str = ""


@dataclass(frozen=True)
class VersionMap:
    """What the buggy script does in each release: a finding by case and release."""

    package: str
    versions: tuple[str, ...]
    cases: Mapping[str, Mapping[str, VersionFinding]]

    @property
    def affected(self) -> list[str]:
        """The releases in which a case is affected."""
        rows = [row.values() for row in self.cases.values()]
        return [item.version for row in rows for item in row if item.state == AFFECTED]


@dataclass(frozen=True)
class BugPart:
    """All that is read of a bug; `problems` has a line for each file that cannot be read."""

    bug: Bug
    cases: tuple[CasePart, ...]
    pairs: tuple[ScriptPair, ...]
    versions: VersionMap | None
    studies: tuple[str, ...]
    problems: tuple[str, ...] = field(default=())

    @property
    def seen_in(self) -> list[str]:
        """The releases in which records show it: those of the map,
        and those of its expected records.
        """
        releases = set(self.versions.affected) if self.versions else set()
        if self.bug.package == "torch":
            torches = {record.runtime.torch for record in self._reproducing_runs}
            # Without what follows a plus: how it was built.
            releases |= {torch.split("+")[0] for torch in torches if torch}
        releases.discard("-")
        ordered = sorted(releases, key=version_order)
        return [f"{self.bug.package} {release}" for release in ordered]

    @property
    def seconds(self) -> float | None:
        """Wall seconds of all expected runs together."""
        durations = [part.seconds for part in self.cases if part.seconds is not None]
        return sum(durations) if durations else None

    @property
    def _reproducing_runs(self) -> list[RunRecord]:
        """The buggy runs of what is reproduced: only these show the bug."""
        reproduced = [runs for part in self.cases for runs in part.runs if runs.reproduced]
        records = [record for runs in reproduced for record in runs.records]
        return [record for record in records if record.variant == "buggy"]


def read(bug: Bug, root: Path) -> BugPart:
    """Everything about a bug; a record that cannot be read is a problem of its part,
    and stops no other.
    """
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
    devices = recorded_devices(bug, case.name)
    try:
        # Curves of one device are enough: they are most of a page.
        runs = [
            judged(case, expected_records(bug, case.name, kind), kind, kind == devices[0])
            for kind in devices
        ]
        upstream = [upstream_records(bug, case.name, kind) for kind in devices]
    except ResultsError as error:
        return CasePart(case, None, (), picture, str(error))
    pairs = zip(runs, upstream, strict=True)
    with_upstream = tuple(_with_upstream(part, records) for part, records in pairs)
    return CasePart(case, seconds(bug, case), with_upstream, picture)


def judged(
    case: Case, records: Sequence[RunRecord], device: str = CPU, with_curves: bool = True
) -> Runs:
    """Records of a case with their verdict, what was observed,
    and curves where they are wanted and there can be any.
    """
    verdict = verify(case, records)
    panels: Sequence[chart.PanelChart] = ()
    problem = ""
    try:
        panels = chart.panels(case, records) if with_curves else ()
    except (MeasureError, ValueError, ArithmeticError) as error:
        problem = "" if case.plot.heatmap else untrusted.brief(str(error))
    return Runs(device, verdict, _observed(verdict), tuple(panels), tuple(records), problem)


def _with_upstream(runs: Runs, upstream: Sequence[RunRecord]) -> Runs:
    """The runs with what the release with the real fix does."""
    if not upstream:
        return runs
    buggy = [record for record in runs.records if record.variant == "buggy"]
    behaviour = verify_upstream(runs.verdict.case, [*buggy, *upstream])
    releases = {record.runtime.torch for record in upstream if record.runtime.torch}
    return replace(runs, upstream=behaviour, upstream_torch=", ".join(sorted(releases)))


def _observed(verdict: Verdict) -> tuple[Observed, ...]:
    observed = []
    for expectation in verdict.case.oracle.expectations:
        checks = [check for check in verdict.checks if check.expectation is expectation]
        expected = next((check.expected for check in checks if check.expected), "")
        values = [(check.seeds, check.observed or check.explanation) for check in checks]
        holds = _all_hold([check.holds for check in checks])
        observed.append(Observed(expectation, expected, tuple(values), holds))
    return tuple(observed)


def _all_hold(holds: Sequence[bool | None]) -> bool | None:
    """Whether all checks hold; None where one is undecided, or there is none."""
    if not holds or None in holds:
        return None
    return all(holds)


def _pairs(bug: Bug) -> tuple[ScriptPair, ...]:
    cases: dict[tuple[Path, Path], list[str]] = {}
    for case in bug.cases.values():
        first, second = (case.program.variants[name].script for name in VARIANTS)
        cases.setdefault((first, second), []).append(case.name)
    return tuple(_pair(*scripts, tuple(names), bug) for scripts, names in cases.items())


def _pair(first: Path, second: Path, cases: tuple[str, ...], bug: Bug) -> ScriptPair:
    texts = []
    for path in (first, second):
        try:
            texts.append(untrusted.read_text(path, MAX_SCRIPT_BYTES, bug.directory))
        except untrusted.UnsafeError as error:
            return ScriptPair(first.name, second.name, cases, (), f"{bug.id}/{path.name}: {error}")
    return ScriptPair(first.name, second.name, cases, tuple(rows(*texts)))


def _versions(bug: Bug, root: Path) -> VersionMap | None:
    items = findings(bug, version_records(bug))
    if not items:
        return None
    versions = {item.version for item in items} | set(releases(root, bug.package))
    cases: dict[str, dict[str, VersionFinding]] = {}
    for name in bug.cases:
        row = {item.version: item for item in items if item.case == name}
        if row:
            cases[name] = row
    return VersionMap(bug.package, tuple(sorted(versions, key=version_order)), cases)


def commands(part: BugPart) -> list[tuple[str, str]]:
    """How to run a bug: commands, and what each does."""
    bug = part.bug
    programs = [case.program for case in bug.cases.values()]
    run, text = (
        f"trainbugs run {bug.id}",
        "runs both variants of all its cases, and says what it sees",
    )
    if any("data" in program.needs for program in programs):
        run, text = f"{run} --data DIR", f"{text}, with data sets from DIR"
    lines = [
        (run, text),
        (f"trainbugs checkout {bug.id} copy", "makes a copy that runs by hand"),
    ]
    if bug.why:
        text = "shows the root cause in the release that runs it"
        lines.append((f"trainbugs why {bug.id}", text))
    if bug.fault:
        text = "puts the fault into another release"
        lines.append((f"trainbugs run {bug.id} --inject --environment NAME", text))
    if any(UPSTREAM in program.variants for program in programs):
        text = "runs the release with the real fix, too"
        lines.append((f"trainbugs run {bug.id} --upstream", text))
    if part.versions:
        lines.append((f"trainbugs versions {bug.id}", "makes the map of versions"))
    for name in part.studies:
        lines.append((f"trainbugs study {bug.id}/{name}", "runs the study"))
    return lines
