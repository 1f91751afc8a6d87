"""How do the parts make a benchmark run? targets -> places -> runs -> verdicts, for the shell and for notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner import build, environment, process
from runner.catalog import Catalog
from runner.errors import UsageError
from runner.execution import Place, Run, execute
from runner.interpreter import Interpreter, machine_has_accelerator, probe
from runner.model import Target
from runner.progress import Progress
from runner.results import RunRecord, Store, encode, expected_path, expected_records, write_json
from runner.verification import Verdict, drift, verify


@dataclass(frozen=True)
class Options:
    """How to run. None means: as the bug's config.json says. `device` is auto, cpu, cuda or cuda:N."""

    results: Path
    seeds: tuple[int, ...] | None = None
    device: str = "auto"
    python: Path | None = None
    environment: str | None = None
    data: Path | None = None
    force: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of one case: its verdict, its run records, and their distance from the expected ones."""

    target: Target
    verdict: Verdict
    records: tuple[RunRecord, ...]
    drift: float | None


class Session:
    """Runs targets one after the other; every interpreter is looked at once."""

    def __init__(self, catalog: Catalog, options: Options, progress: Progress) -> None:
        self.catalog = catalog
        self.options = options
        self.progress = progress
        self.store = Store(options.results.absolute())
        self._places: dict[str, Place] = {}
        self._done = 0

    def run(self, targets: Sequence[Target]) -> list[Outcome]:
        """Run and judge all targets; environments that are missing are built first."""
        planned = [(target, self._plan(target)) for target in targets]
        total = sum(len(runs) for _, runs in planned)
        return [self._run_case(target, runs, total) for target, runs in planned]

    def _plan(self, target: Target) -> list[Run]:
        options, case = self.options, target.case
        revision = process.git_revision(target.bug.directory)
        return [
            Run(
                bug=target.bug,
                case=case,
                variant=variant,
                seed=seed,
                place=self._place(options.environment or case.variants[variant].environment),
                timeout_s=options.timeout_s or case.timeout_s,
                data=options.data,
                revision=revision,
            )
            for seed in options.seeds or case.seeds
            for variant in target.variants
        ]

    def _place(self, name: str) -> Place:
        key = str(self.options.python or name)
        if key not in self._places:
            self._places[key] = self._own_python() if self.options.python else self._pinned(name)
        return self._places[key]

    def _own_python(self) -> Place:
        assert self.options.python is not None
        found = probe(self.options.python.absolute())
        return Place("own", found.path, found.python, found.torch, None, *self._device(found, str(found.path)))

    def _pinned(self, name: str) -> Place:
        described = environment.load(self.catalog.root, name)
        built = environment.find(described) or build.build(described, self.progress)
        wanted = self.options.device
        if wanted == "cpu" or (wanted == "auto" and not machine_has_accelerator()):
            device: tuple[str, str | None, str | None] = ("cpu", None, None)
        else:
            device = self._device(probe(built.python), f"environment {name}")
        return Place(name, built.python, built.python_version, built.torch_version, built, *device)

    def _device(self, found: Interpreter, where: str) -> tuple[str, str | None, str | None]:
        """Kind (with its number), name and driver of the device to run on."""
        wanted = self.options.device
        if wanted == "cpu" or (wanted == "auto" and not found.devices):
            return "cpu", None, None
        index = int(wanted.partition(":")[2] or 0)
        if index >= len(found.devices):
            raise UsageError(
                f"device {wanted}: torch {found.torch} of {where} sees {len(found.devices)} such devices; "
                "try --device cpu"
            )
        return "cuda" if wanted == "auto" else wanted, found.devices[index], found.driver

    def _run_case(self, target: Target, runs: Sequence[Run], total: int) -> Outcome:
        records = tuple(self._run(run, total) for run in runs)
        verdict = verify(target.case, records)
        outcome = Outcome(target, verdict, records, drift(records, expected_records(target.bug, target.case.name)))
        if verdict.outcome:
            write_json(self.store.verdict_path(target.bug.id, target.case.name), summary(outcome))
        return outcome

    def _run(self, run: Run, total: int) -> RunRecord:
        self._done += 1
        label = f"[{self._done}/{total}] {run.name}"
        done = None if self.options.force else self.store.find(
            run.bug.id, run.case.name, run.variant, run.seed, run.key
        )  # fmt: skip
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


def save_expected(outcomes: Sequence[Outcome]) -> list[Path]:
    """Make the records of REPRODUCED cases the expected ones; raises UsageError if a case is anything else."""
    for outcome in outcomes:
        if outcome.verdict.outcome != "REPRODUCED" or not all(record.pinned for record in outcome.records):
            raise UsageError(
                f"{outcome.target.case.id} is not REPRODUCED in a pinned environment: expected/ stays as it is"
            )
    written = []
    for outcome in outcomes:
        directory = outcome.target.bug.expected / outcome.target.case.name
        for stale in directory.glob("*-seed*.json"):
            stale.unlink()
        for record in outcome.records:
            path = expected_path(outcome.target.bug, record)
            write_json(path, encode(record))
            written.append(path)
    return written


def summary(outcome: Outcome) -> dict[str, object]:
    """An outcome for JSON: the verdict, its checks and the keys of the runs behind it."""
    verdict = outcome.verdict
    return {
        "bug": outcome.target.bug.id,
        "case": outcome.target.case.name,
        "benign": outcome.target.case.benign,
        "verdict": verdict.outcome,
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
