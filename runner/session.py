"""How do the parts make a benchmark run? targets -> places -> runs -> verdicts, for the shell and for notebooks."""

import itertools
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner import process
from runner.catalog import Catalog
from runner.errors import ResultsError, UsageError
from runner.execution import Run, execute
from runner.key import data_digest, read_scripts
from runner.model import FAULT, Target
from runner.place import Places
from runner.progress import Progress
from runner.records import RunRecord, Store, encode, expected_path, expected_records, write_json
from runner.verification import REPRODUCED, Verdict, drift, verify


@dataclass(frozen=True)
class Options:
    """How to run. None means: as the bug's config.json says. `device` is auto, cpu, cuda or cuda:N.

    `inject` puts the fault back into a release that has it no more; without `keep`, what a build downloads is not kept.
    """

    results: Path
    seeds: tuple[int, ...] | None = None
    device: str = "auto"
    python: Path | None = None
    environment: str | None = None
    data: Path | None = None
    force: bool = False
    timeout_s: float | None = None
    inject: bool = False
    keep: bool = True

    def __post_init__(self) -> None:
        """Raise UsageError for what cannot be meant."""
        if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", self.device):
            raise UsageError(f"device is {self.device!r}, expected auto, cpu, cuda or cuda:N")
        if self.seeds is not None and (len(set(self.seeds)) < len(self.seeds) or min(self.seeds, default=0) < 0):
            raise UsageError(f"seeds are {self.seeds}, expected different numbers >= 0")
        if self.timeout_s is not None and not 0 < self.timeout_s < math.inf:
            raise UsageError(f"timeout is {self.timeout_s}, expected a number of seconds above 0")
        if self.data is not None and not self.data.is_dir():
            raise UsageError(f"{str(self.data)!r}: no such folder; expected one that holds, say, MNIST/raw")
        if self.python is not None and self.environment is not None:
            raise UsageError("an interpreter of your own and a pinned environment exclude each other; name one")


@dataclass(frozen=True)
class Outcome:
    """What became of one case: its verdict, its run records, and their distance from the expected ones."""

    target: Target
    verdict: Verdict
    records: tuple[RunRecord, ...]
    drift: float | None
    injected: bool = False


class Session:
    """Runs targets one after the other; every interpreter is looked at once."""

    def __init__(self, catalog: Catalog, options: Options, progress: Progress) -> None:
        self.catalog = catalog
        self.options = options
        self.progress = progress
        self.store = Store(options.results.absolute())
        self.places = Places(catalog.root, progress, options.device, options.python, options.keep)

    def run(self, targets: Sequence[Target]) -> list[Outcome]:
        """Run and judge all targets; environments that are missing are built first."""
        return [self._outcome(target, records) for target, records in self.records(targets)]

    def records(self, targets: Sequence[Target]) -> Iterator[tuple[Target, tuple[RunRecord, ...]]]:
        """Each target with the records of its runs, not judged; all is planned before the first one runs."""
        planned = [(target, self.plan(target)) for target in targets]
        total, number = sum(len(runs) for _, runs in planned), itertools.count(1)
        for target, runs in planned:
            yield target, tuple(self.perform(run, f"[{next(number)}/{total}]") for run in runs)

    def plan(self, target: Target, seeds: Sequence[int] | None = None) -> list[Run]:
        """The runs of a target, each with its place, which is built if it is missing; with its own seeds by default."""
        options, case = self.options, target.case
        if options.inject and target.bug.fault is None:
            raise UsageError(f"{target.bug.id} ships no {FAULT}: its fault cannot be put back; leave out --inject")
        revision, scripts = process.git_revision(target.bug.directory), read_scripts(target.bug, options.inject)
        digest = data_digest(case, options.data)
        return [
            Run(
                case=case,
                variant=variant,
                seed=seed,
                place=self.places.get(options.environment or case.variants[variant].environment),
                timeout_s=options.timeout_s or case.timeout_s,
                scripts=scripts,
                data=options.data,
                data_digest=digest,
                revision=revision,
                injected=options.inject,
            )
            for seed in next(given for given in (seeds, options.seeds, case.seeds) if given is not None)
            for variant in target.variants
        ]

    def _outcome(self, target: Target, records: tuple[RunRecord, ...]) -> Outcome:
        verdict, injected = verify(target.case, records), self.options.inject
        outcome = Outcome(target, verdict, records, self._drift(target, records), injected)
        if verdict.outcome:
            write_json(self.store.verdict_path(target.bug.id, target.case.name, injected), summary(outcome))
        return outcome

    def _drift(self, target: Target, records: Sequence[RunRecord]) -> float | None:
        try:
            return drift(target.case, records, expected_records(target.bug, target.case.name))
        except ResultsError as error:
            self.progress.line(f"{target.case.id}: no drift: {error}")
            return None

    def perform(self, run: Run, where: str) -> RunRecord:
        """Do a run or find it done; says, after `where`, how it ended."""
        label = f"{where} {run.name}"
        case = run.case
        again = self.options.force or run.place.broken is not None
        done = None if again else self.store.find(case.bug, case.name, run.variant, run.seed, run.key)
        if done:
            self.progress.line(f"{label}: done before")
            return done
        record = execute(
            run, self.store, lambda elapsed, stdout: self.progress.status(lambda: _live(label, elapsed, stdout))
        )
        seconds, ended = f"{record.wall_s:.1f} s", record.reason or "ok"
        logs = "" if record.ok else f" (logs: {self.store.log_path(record, 'stderr')})"
        self.progress.line(f"{label}: {ended}, {seconds}{logs}")
        return record


def default_data() -> Path | None:
    """The folder that TRAINBUGS_DATA names, or None; raises UsageError where there is no such folder."""
    given = os.environ.get("TRAINBUGS_DATA")
    if not given:
        return None
    path = Path(given).absolute()
    if not path.is_dir():
        raise UsageError(f"TRAINBUGS_DATA is {given!r}: no such folder; expected one that holds, say, MNIST/raw")
    return path


def exit_status(outcomes: Sequence[Outcome]) -> int:
    """0 if all is as expected, 1 if an expectation does not hold, 2 if something is INVALID."""
    if any(outcome.verdict.invalid for outcome in outcomes):
        return 2
    return 1 if any(outcome.verdict.failed for outcome in outcomes) else 0


def save_expected(outcomes: Sequence[Outcome]) -> list[Path]:
    """Make the records of whole, REPRODUCED cases the expected ones; raises UsageError if a case is anything else."""
    for outcome in outcomes:
        _refuse_unexpected(outcome)
    written = []
    for outcome in outcomes:
        paths = [expected_path(outcome.target.bug, record) for record in outcome.records]
        for path, record in zip(paths, outcome.records, strict=True):
            write_json(path, encode(record))
        for stale in set(paths[0].parent.glob("*-seed*.json")) - set(paths):
            stale.unlink()
        written += paths
    return written


def _refuse_unexpected(outcome: Outcome) -> None:
    case, records = outcome.target.case, outcome.records
    if outcome.injected or outcome.verdict.outcome != REPRODUCED or not all(record.pinned for record in records):
        raise UsageError(f"{case.id} is not REPRODUCED as reported, in a pinned environment: expected/ stays as it is")
    if {record.seed for record in records} != set(case.seeds):
        raise UsageError(f"{case.id} was not run with its own seeds: expected/ stays as it is; leave out --seeds")
    if any((record.revision or "").endswith("-dirty") for record in records):
        raise UsageError(f"{case.id} was run from files that are not committed: commit, then run with --force")
    elsewhere = {r.environment for r in records if r.environment != case.variants[r.variant].environment}
    if elsewhere:
        raise UsageError(f"{case.id} was run in {', '.join(elsewhere)}: expected/ stays as it is; see `versions`")


def summary(outcome: Outcome) -> dict[str, object]:
    """An outcome for JSON: the verdict, its checks and the keys of the runs behind it."""
    verdict = outcome.verdict
    return {
        "bug": outcome.target.bug.id,
        "case": outcome.target.case.name,
        "benign": outcome.target.case.benign,
        "verdict": verdict.outcome,
        "injected": outcome.injected,
        "environments": sorted({record.environment for record in outcome.records}),
        "reason": verdict.reason,
        "drift": str(outcome.drift) if outcome.drift == float("inf") else outcome.drift,
        "checks": [
            {
                "statement": check.expectation.statement,
                "seed": check.seed,
                "holds": check.holds,
                "explanation": check.explanation,
            }
            for check in verdict.checks
        ],
        "runs": [{"variant": r.variant, "seed": r.seed, "status": r.status, "key": r.key} for r in outcome.records],
    }


def _live(label: str, elapsed: float, stdout: Path) -> str:
    try:
        lines = stdout.read_bytes().count(b"\n")
    except OSError:
        lines = 0
    return f"{label}: {elapsed:.0f} s, {lines} records"
