"""A detector run: one detector at work on programs, with one kind of references."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from evaluation.keys import KIT, detector_digest
from evaluation.model import Answer, Detector, Reference
from evaluation.records import Seconds
from evaluation.running.adapter import PROGRAM, Adapter, Place, set_up
from evaluation.running.answers import broken_by
from evaluation.running.bare_runs import Once
from evaluation.running.disturbance import ComparedAnswer, compare_with_bare, run_bare_again
from evaluation.running.program import ShownProgram
from evaluation.store.results import CheckStore
from runner.execution.local import Report
from runner.files.locks import WORK, TemporaryFolder
from runner.files.trees import remove_tree
from runner.progress.lines import Progress
from runner.results.revision import find_revision
from runner.sandbox.streams import end_of, open_streams

# Of what a detector wrote to its standard error while it failed to learn.
KEPT_STDERR_BYTES = 1_000_000


@dataclass(frozen=True)
class DetectorSettings:
    """Settings that all checks of a campaign share. `guarded` are folders that tell buggy from
    fixed.

    `with_losses` gives a program the loss of every iteration. `timeout_s` is for each check; None:
    the detector's own. `perturb` and `plant` are the seeds by which the programs were rewritten, if
    they were. `trust`: environments that others may change are used.
    """

    store: CheckStore
    guarded: tuple[Path, ...]
    with_losses: Callable[[ShownProgram], ShownProgram]
    timeout_s: float | None
    perturb: int | None = None
    plant: int | None = None
    trust: bool = False


@dataclass(frozen=True)
class Lesson:
    """What a detector learnt from references: a folder, or why it failed,
    and the seconds that it took.

    `stderr`: where it failed, the end of what it wrote to its standard error.
    """

    state: Path
    failure: Answer | None
    seconds: float
    stderr: bytes = b""


class DetectorRun:
    """One detector's work on programs, with one kind of references. A context:
    its scratch folder is removed after.
    """

    def __init__(
        self,
        detector: Detector,
        reference_kind: Reference,
        settings: DetectorSettings,
        progress: Progress,
    ) -> None:
        self.detector = detector
        self.reference_kind = reference_kind
        self.settings = settings
        self.progress = progress
        self.digest = detector_digest(detector)
        self.revision = find_revision(detector.directory)
        self._scratch = Path()
        self._adapter: Once[Adapter] = Once()
        # By the keys of the references.
        self._lessons: Once[Lesson] = Once()
        self._learning: set[tuple[str, ...]] = set()
        self._turns = threading.Lock()

    def __enter__(self) -> "DetectorRun":
        # The next command removes this folder, where this command is killed.
        self._folder = TemporaryFolder(Path(tempfile.gettempdir()), WORK)
        self._scratch = self._folder.path
        # A copy: the path of the benchmark's own files would tell where the catalogue is.
        shutil.copytree(KIT, self._scratch / "kit", ignore=shutil.ignore_patterns("__pycache__"))
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.remove()

    @property
    def label(self) -> str:
        """The detector for the user, with its kind of references."""
        suffix = "" if self.reference_kind == "none" else f" ({self.reference_kind})"
        return self.detector.name + suffix

    @contextmanager
    def turn(self, keys: tuple[str, ...]) -> Iterator[bool]:
        """Whether a check with references of these keys may be done now:
        not while another check is to learn from them.

        Such a check would take a share of the machine only to wait. Many checks may have the same
        references: each is refused about once a second while the first one learns.
        """
        with self._turns:
            is_free = not keys or self._lessons.has(keys) or keys not in self._learning
            if is_free:
                self._learning.add(keys)
        try:
            yield is_free
        finally:
            if is_free:
                with self._turns:
                    self._learning.discard(keys)

    def answer(
        self,
        program: ShownProgram,
        references: Sequence[ShownProgram],
        place: Place,
        report: Report,
    ) -> tuple[ComparedAnswer, Seconds]:
        """The detector's answer about a program now, and the seconds that learning and looking
        took.

        It is `disturbed` where the program did not record what it records alone.
        """
        answer, seconds = self._ask(program, references, place, report)
        try:
            compared = self._compare(answer, program, place, report)
        except Exception as error:
            compared = ComparedAnswer(broken_by(error), None)
        if compared.answer.status != "ok":
            # Another program than the one that was shown was timed.
            seconds = replace(seconds, training=None)
        return compared, seconds

    @property
    def adapter(self) -> Adapter:
        """The detector, ready to work; its environment is built if it is missing."""
        return self._adapter.get(None, self._set_up)

    @property
    def is_trusted(self) -> bool:
        """Whether the detector has worked in an environment that others may change."""
        return self._adapter.has(None) and self.adapter.trusted

    @contextmanager
    def place(self) -> Iterator[Place]:
        """A new place in the scratch folder, whose name says nothing, removed afterwards;
        raises OSError.
        """
        room = Path(tempfile.mkdtemp(dir=self._scratch))
        folder = room / "work"
        try:
            folder.mkdir()
            with open_streams(self._scratch) as streams:
                yield Place(folder, streams)
        finally:
            remove_tree(room)

    def _set_up(self) -> Adapter:
        return set_up(
            self.detector,
            self.settings.guarded,
            self.settings.timeout_s,
            self.progress,
            self._scratch / "kit",
            self.settings.trust,
        )

    def _compare(
        self, answer: Answer, program: ShownProgram, place: Place, report: Report
    ) -> ComparedAnswer:
        if not self.detector.runs:
            return ComparedAnswer(answer, None)

        return compare_with_bare(
            answer,
            program,
            place.folder / PROGRAM,
            required=self.detector.monitor is not None,
            run_again=lambda: run_bare_again(
                program, self._scratch, lambda elapsed: report(lambda: "bare, once more")
            ),
        )

    def _ask(
        self,
        program: ShownProgram,
        references: Sequence[ShownProgram],
        place: Place,
        report: Report,
    ) -> tuple[Answer, Seconds]:
        if not self.detector.supports(program.torch):
            reason = f"torch {program.torch}, supported is {self.detector.torch}"
            return Answer("unsupported", reason), Seconds(None, 0.0, None)
        state, learning_s = None, None
        if references:
            lesson = self._lessons.get(
                reference_keys(references), lambda: self._learn(references, report)
            )
            state, learning_s = lesson.state, lesson.seconds
            if lesson.failure:
                # The check has no other place in which the user could read it.
                place.streams.stderr.write(lesson.stderr)
                reason = f"prepare: {lesson.failure.reason}"
                return Answer(lesson.failure.status, reason), Seconds(learning_s, 0.0, None)
        program = self._with_losses(program)
        answer, seconds = self.adapter.check(
            program, state, place, lambda elapsed: report(lambda: "check")
        )
        return answer, Seconds(learning_s, round(seconds, 3), answer.training)

    def _learn(self, references: Sequence[ShownProgram], report: Report) -> Lesson:
        """What the detector learns from references, those that end well alone;
        once for all checks with these.
        """
        state = Path(tempfile.mkdtemp(prefix="state-", dir=self._scratch)) / "state"
        clean = [reference for reference in references if reference.baseline]
        if not clean:
            return Lesson(state, Answer("tool_error", "no reference runs by itself"), 0.0)
        clean = [self._with_losses(reference) for reference in clean]
        with open_streams(state.parent) as streams:
            failure, seconds = self.adapter.prepare(
                clean, state, streams, lambda elapsed: report(lambda: "prepare")
            )
            stderr = end_of(streams.stderr, KEPT_STDERR_BYTES) if failure else b""
        return Lesson(state, failure, round(seconds, 3), stderr)

    def _with_losses(self, program: ShownProgram) -> ShownProgram:
        """The program, with its losses where the detector needs them."""
        if "metrics" in self.detector.needs:
            return self.settings.with_losses(program)
        return program


def reference_keys(references: Sequence[ShownProgram]) -> tuple[str, ...]:
    """The keys of the runs to learn from."""
    return tuple(reference.key for reference in references)
