"""The evaluation of one detector: what it answers of programs becomes records of checks."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from evaluation.keys import (
    KIT,
    check_key,
    detector_digest,
    kit_digest,
    rule_digest,
    rules_digest,
)
from evaluation.model import Answer, Detector, Reference
from evaluation.records import SCHEMA, CheckRecord, Seconds, Site
from evaluation.running.adapter import ANSWER, PROGRAM, Adapter, Place, broken_by, set_up
from evaluation.running.baseline import Once
from evaluation.running.disturbance import Held, bare_again, held
from evaluation.running.subject import Sample, Subject
from evaluation.store.results import CheckStore
from runner.execution.local import Report
from runner.files import untrusted
from runner.files.locks import WORK, TemporaryFolder
from runner.files.trees import remove_tree
from runner.files.untrusted import UnsafeError
from runner.progress.lines import Progress
from runner.results.revision import find_revision
from runner.results.runtime_identity import machine
from runner.sandbox.env import THREADS
from runner.sandbox.isolation import isolation
from runner.sandbox.streams import keep, open_streams

# Of a file that a detector names to be kept.
MAX_KEPT_BYTES = 256_000_000


@dataclass(frozen=True)
class Settings:
    """What is the same for all checks of one campaign. `guarded` are folders that tell buggy from fixed.

    `with_losses` gives a sample the loss of every iteration. `timeout_s` is for each check; None: the detector's own.
    `perturb` and `plant` are the seeds by which the programs were rewritten, if they were. `trust`: environments that
    others may change are used.
    """

    store: CheckStore
    guarded: tuple[Path, ...]
    with_losses: Callable[[Sample], Sample]
    timeout_s: float | None
    perturb: int | None = None
    plant: int | None = None
    trust: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """A program to be looked at. `references` are there to be learnt from; `clean` are those that end well alone."""

    sample: Sample
    references: tuple[Subject, ...] = ()
    clean: tuple[Sample, ...] = ()

    @property
    def reference_keys(self) -> tuple[str, ...]:
        return tuple(subject.run.key for subject in self.references)


class Evaluation:
    """One detector's work on programs, with one kind of references. A context: its scratch folder is removed after."""

    def __init__(
        self, detector: Detector, how: Reference, settings: Settings, progress: Progress
    ) -> None:
        self.detector, self.how, self.settings, self.progress = detector, how, settings, progress
        self.digest = detector_digest(detector)
        self.revision = find_revision(detector.directory)
        self._scratch = Path()
        self._adapter: Once[Adapter] = Once()
        self._learnt: Once[tuple[Path, Answer | None, float]] = Once()
        self._learning: set[tuple[str, ...]] = set()
        self._turns = threading.Lock()

    def __enter__(self) -> "Evaluation":
        # One that the next command removes, where this one is killed.
        self._folder = TemporaryFolder(Path(tempfile.gettempdir()), WORK)
        self._scratch = self._folder.path
        # A copy: the path of the benchmark's own files would tell where the catalogue is.
        shutil.copytree(KIT, self._scratch / "kit", ignore=shutil.ignore_patterns("__pycache__"))
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.remove()

    @property
    def label(self) -> str:
        return self.detector.name + ("" if self.how == "none" else f" ({self.how})")

    @contextmanager
    def turn(self, key: tuple[str, ...]) -> Iterator[bool]:
        """Whether a check with these references may be done now: not while another one is about to learn from them.

        Such a check would take a share of the machine only to wait. Where many have the same references, as those of
        other programs are, each is refused about once a second while one learns.
        """
        with self._turns:
            free = not key or self._learnt.has(key) or key not in self._learning
            if free:
                self._learning.add(key)
        try:
            yield free
        finally:
            if free:
                with self._turns:
                    self._learning.discard(key)

    def check(self, task: Task, report: Report) -> CheckRecord:
        """The record of a check, made now, and saved with what the detector wrote.

        Where that cannot be copied, or could not be read again, the check is a tool_error.
        """
        blank = self.blank(task)
        with self.place() as place:
            checked, seconds = self.answer(task, place, report)
            if self._adapter.has(None) and self.adapter.trusted:
                blank = replace(blank, trusted=True)
            record = _filled(blank, checked, seconds)
            try:
                self._keep(record, checked.answer, place)
                self.settings.store.save(record)
            except Exception as error:
                record = _filled(blank, Held(broken_by(error), None), seconds)
                self.settings.store.save(record)
        return record

    def answer(self, task: Task, place: Place, report: Report) -> tuple[Held, Seconds]:
        """What the detector says of a program now, and the seconds that learning and looking took.

        It is `disturbed` where the program did not record what it records alone.
        """
        answer, seconds = self._asked(task, place, report)
        try:
            checked = self._held(answer, task.sample, place, report)
        except Exception as error:
            checked = Held(broken_by(error), None)
        # What was timed was another program.
        return checked, seconds if checked.answer.status == "ok" else replace(
            seconds, training=None
        )

    def _held(self, answer: Answer, sample: Sample, place: Place, report: Report) -> Held:
        if not self.detector.runs:
            return Held(answer, None)
        subject, scratch = sample.subject, self._scratch
        return held(
            answer, sample, place.folder / PROGRAM, required=self.detector.monitor is not None,
            again=lambda: bare_again(subject, scratch, lambda elapsed: report(lambda: "bare, once more")),
        )  # fmt: skip

    def _asked(self, task: Task, place: Place, report: Report) -> tuple[Answer, Seconds]:
        sample, torch = task.sample, task.sample.subject.run.runtime.torch
        state, learning = None, None
        if not self.detector.supports(torch):
            return Answer(
                "unsupported", f"torch {torch}, supported is {self.detector.torch}"
            ), Seconds(None, 0.0, None)
        if task.references:
            state, failure, learning = self._learnt.get(
                task.reference_keys, lambda: self._learn(task, report)
            )
            if failure:
                failed = Answer(failure.status, f"prepare: {failure.reason}")
                return failed, Seconds(learning, 0.0, None)
        if "metrics" in self.detector.needs:
            sample = self.settings.with_losses(sample)
        answer, seconds = self.adapter.check(
            sample, state, place, lambda elapsed: report(lambda: "check")
        )
        return answer, Seconds(learning, round(seconds, 3), answer.training)

    def blank(self, task: Task) -> CheckRecord:
        """The record of a check that is to be done."""
        subject, timeout_s = task.sample.subject, self.settings.timeout_s
        bug, case, run = subject.bug, subject.case, subject.run
        script = case.program.variants[run.variant].script.name
        return CheckRecord(
            schema=SCHEMA,
            key=check_key(self.digest, run.key, self.how, task.reference_keys, timeout_s),
            detector=self.detector.name,
            version=self.detector.version,
            references=self.how,
            kind=subject.kind,
            bug=bug.id,
            case=case.name,
            seed=run.seed,
            benign=case.benign,
            trigger=case.truth.iteration,
            site=Site(
                "program.py" if bug.site.file == script else bug.site.file,
                bug.site.line,
                bug.site.api,
            ),
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
            revision=self.revision,
            kit=kit_digest(),
            rules=rules_digest(self.detector.alarm_rules),
            isolated=isolation() != "none",
            isolation=isolation(),
            trusted=run.runtime.trusted or None,
            code=self.digest,
            declared={name: rule_digest(rule) for name, rule in self.detector.alarm_rules.items()},
            program=subject.digest,
            reference_text=self.detector.has_text if self.how != "none" else None,
            perturb=self.settings.perturb,
            plant=self.settings.plant,
        )

    @property
    def adapter(self) -> Adapter:
        """The detector, ready to work; its environment is built if it is missing."""
        settings = self.settings
        return self._adapter.get(
            None,
            lambda: set_up(
                self.detector,
                settings.guarded,
                settings.timeout_s,
                self.progress,
                self._scratch / "kit",
                settings.trust,
            ),
        )

    @contextmanager
    def place(self) -> Iterator[Place]:
        """A new place in the scratch folder, whose name says nothing, removed afterwards; raises OSError."""
        room = Path(tempfile.mkdtemp(dir=self._scratch))
        folder = room / "work"
        try:
            folder.mkdir()
            with open_streams(self._scratch) as streams:
                yield Place(folder, streams)
        finally:
            remove_tree(room)

    def _learn(self, task: Task, report: Report) -> tuple[Path, Answer | None, float]:
        """What was learnt, or why nothing was, and the seconds; once for all tasks with the same references."""
        state = Path(tempfile.mkdtemp(prefix="state-", dir=self._scratch)) / "state"
        if not task.clean:
            return state, Answer("tool_error", "no reference runs by itself"), 0.0
        needs_losses = "metrics" in self.detector.needs
        samples = [
            self.settings.with_losses(sample) if needs_losses else sample for sample in task.clean
        ]
        failure, seconds = self.adapter.prepare(
            samples, state, lambda elapsed: report(lambda: "prepare")
        )
        return state, failure, round(seconds, 3)

    def _keep(self, record: CheckRecord, answer: Answer, place: Place) -> None:
        """Copy what the detector wrote, and named, to where it is kept, with the streams of its adapter.

        What it named and did not write there, or wrote too large, is left out.
        """
        kept = self.settings.store.artefacts(record)
        remove_tree(kept)
        kept.mkdir(parents=True)
        for name in (*answer.artefacts, ANSWER):
            path = place.folder / name
            with suppress(UnsafeError):
                untrusted.copy(path, kept / path.name, MAX_KEPT_BYTES, place.folder)
        for name, stream in place.streams._asdict().items():
            keep(stream, kept / name, kept)


def _filled(blank: CheckRecord, checked: Held, seconds: Seconds) -> CheckRecord:
    answer = checked.answer
    return replace(
        blank,
        status=answer.status,
        reason=answer.reason,
        alarms=answer.alarms,
        dropped=answer.dropped,
        invariants=answer.invariants,
        seconds=seconds,
        compared=checked.compared,
    )
