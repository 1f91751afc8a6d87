"""How does one detector look at programs? Answers become records of checks; finished ones are not asked for again."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from evaluation.catalog.detectors import supports
from evaluation.model import Answer, Detector
from evaluation.records import SCHEMA, CheckRecord, Evaluations, Seconds, Site
from evaluation.running.adapter import KIT, Adapter, Sample, check, own_python, prepare
from evaluation.running.baseline import Baselines, Once
from evaluation.running.program import Program
from runner.environments import builder, spec
from runner.execution.local import Report
from runner.progress.lines import Progress
from runner.results import provenance
from runner.results.provenance import machine
from runner.sandbox.env import THREADS


@dataclass(frozen=True)
class Settings:
    """What is the same for all checks of one evaluation. `guarded` are folders that tell buggy from fixed."""

    evaluations: Evaluations
    guarded: tuple[Path, ...]
    force: bool = False
    timeout_s: float | None = None


class Evaluation:
    """One detector's work on programs, with one kind of references. A context: its scratch folder is removed after."""

    def __init__(
        self, detector: Detector, how: str, samples: Baselines, settings: Settings, progress: Progress
    ) -> None:
        self.detector, self.how, self.samples, self.settings, self.progress = detector, how, samples, settings, progress
        self.digest = digest(detector)
        self.scratch = Path()
        self._bench: Once[Adapter] = Once()
        self._learnt: Once[tuple[Path, Answer, float]] = Once()
        self._references: dict[str, list[Program] | None] = {}

    def __enter__(self) -> "Evaluation":
        self.scratch = Path(tempfile.mkdtemp())
        return self

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def label(self) -> str:
        return self.detector.name + ("" if self.how == "none" else f" ({self.how})")

    @property
    def bench(self) -> Adapter:
        """The detector, ready to work; its environment is built if it is missing."""
        return self._bench.get(None, self._set_up)

    def _set_up(self) -> Adapter:
        python, packages = own_python(), tuple[Path, ...]()
        if self.detector.has_environment:
            described = spec.read(f"detector-{self.detector.name}", self.detector.directory)
            built = spec.find(described) or builder.build(described, self.progress)
            python, packages = built.python, tuple(built.directory.glob("lib/python*/site-packages"))
        timeout_s = self.settings.timeout_s or self.detector.timeout_s
        return Adapter(self.detector, python, packages, self.settings.guarded, timeout_s)

    def references(self, program: Program) -> list[Program] | None:
        """The clean runs that the detector may learn from; None where the program is not scored with any."""
        if program.run.key not in self._references:
            self._references[program.run.key] = self.samples.references(program, self.how)
        return self._references[program.run.key]

    def find(self, sample: Sample) -> CheckRecord | None:
        """The finished record of a check, if there is one."""
        references = self.references(sample.program)
        if references is None or self.settings.force:
            return None
        return self.settings.evaluations.find(self._blank(sample.program, references))

    def check(self, sample: Sample, report: Report) -> CheckRecord:
        """The record of a check, made now. Its references must have run before (`Samples.bare`)."""
        references, work = self.references(sample.program) or [], self.new_folder()
        verdict, seconds = self.answer(sample, references, work, report)
        record = replace(
            self._blank(sample.program, references),
            status=verdict.status,
            reason=verdict.reason,
            alarms=verdict.alarms,
            dropped=verdict.dropped,
            invariants=verdict.invariants,
            seconds=replace(seconds, training=verdict.training),
        )
        self._keep(record, verdict, work)
        self.settings.evaluations.save(record)
        return record

    def answer(
        self, sample: Sample, references: Sequence[Program], work: Path, report: Report
    ) -> tuple[Answer, Seconds]:
        """What the detector says of a program now, and the seconds that learning and looking took."""
        state, learning, torch = None, None, sample.program.run.runtime.torch
        if not supports(self.detector, torch):
            return Answer("unsupported", f"torch {torch}, supported is {self.detector.torch}"), Seconds(None, 0.0, None)
        if references:
            key = tuple(program.run.key for program in references)
            state, learnt, learning = self._learnt.get(key, lambda: self._learn(references, report))
            if learnt.status != "ok":
                return Answer(learnt.status, f"prepare: {learnt.reason}"), Seconds(learning, 0.0, None)
        if "metrics" in self.detector.needs:
            sample = self.samples.with_losses(sample)
        verdict, seconds = check(self.bench, sample, state, work, lambda elapsed: report(lambda: "check"))
        return verdict, Seconds(learning, round(seconds, 3), None)

    def _learn(self, references: Sequence[Program], report: Report) -> tuple[Path, Answer, float]:
        samples = self.samples.known(references)
        if "metrics" in self.detector.needs:
            samples = [self.samples.with_losses(sample) for sample in samples]
        state = Path(tempfile.mkdtemp(prefix="state-", dir=self.scratch)) / "state"
        learnt, seconds = Answer("tool_error", "no reference runs by itself"), 0.0
        if samples:
            learnt, seconds = prepare(self.bench, samples, state, lambda elapsed: report(lambda: "prepare"))
        return state, learnt, round(seconds, 3)

    def new_folder(self) -> Path:
        """A new folder in the scratch folder, whose name says nothing."""
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def _keep(self, record: CheckRecord, verdict: Answer, work: Path) -> None:
        """Copy what the detector wrote, and named, to where it is kept, with the streams of its adapter."""
        kept = self.settings.evaluations.artefacts(record)
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for name in ("stdout", "stderr", "verdict.json", *verdict.artefacts):
            path = (work / name).resolve()
            if path.is_file() and path.is_relative_to(work.resolve()):
                shutil.copyfile(path, kept / path.name)
        shutil.rmtree(work, ignore_errors=True)

    def _blank(self, program: Program, references: Sequence[Program]) -> CheckRecord:
        """The record of a check that is to be done."""
        bug, case, run = program.bug, program.case, program.run
        script = case.program.variants[run.variant].script.name
        parts = [SCHEMA, self.digest, run.key, self.how, [each.run.key for each in references]]
        return CheckRecord(
            schema=SCHEMA,
            key=hashlib.sha256(json.dumps([*parts, self.settings.timeout_s]).encode()).hexdigest(),
            detector=self.detector.name,
            version=self.detector.version,
            references=self.how,
            kind=program.kind,
            bug=bug.id,
            case=case.name,
            seed=run.seed,
            benign=case.benign,
            trigger=case.truth.iteration,
            site=Site("program.py" if bug.site.file == script else bug.site.file, bug.site.line, bug.site.api),
            environment=run.runtime.environment,
            pinned=run.runtime.pinned,
            torch=run.runtime.torch,
            device=run.runtime.device,
            machine=machine(),
            threads=THREADS,
            status="ok",
            reason=None,
            alarms=(),
            dropped=0,
            invariants=None,
            seconds=Seconds(None, 0.0, None),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            revision=provenance.git_revision(self.detector.directory),
        )


def digest(detector: Detector) -> str:
    """A hash of everything of a detector that may change its answers, and of what the benchmark runs it with."""
    files = [path for folder in (detector.directory, KIT) for path in sorted(folder.rglob("*")) if path.is_file()]
    hashes = [
        [path.name, hashlib.sha256(path.read_bytes()).hexdigest()]
        for path in files
        if path.name not in ("README.md", "detector.json") and path.suffix != ".pyc"
    ]
    # Of detector.json the rules do not count: answers are the same by whatever rule they are scored.
    described = [detector.version, sorted(detector.needs), detector.program, detector.torch, detector.timeout_s]
    return hashlib.sha256(json.dumps([hashes, described]).encode()).hexdigest()


def said(record: CheckRecord) -> str:
    """How a check ended, for the user."""
    seconds = f"{record.seconds.check:.1f} s"
    if record.status != "ok":
        return f"{record.status}: {record.reason}, {seconds}"
    many = len(record.alarms) + record.dropped
    iterations = [alarm.iteration for alarm in record.alarms if alarm.iteration is not None]
    since = f", first at iteration {min(iterations)}" if iterations else ""
    return f"{many} alarm{'' if many == 1 else 's'}{since}, {seconds}"
