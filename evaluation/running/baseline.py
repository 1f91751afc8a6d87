"""Baselines: programs that ran well by themselves, with their records and losses, for detectors to look at."""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from evaluation.catalog.controls import Controls
from evaluation.keys import KIT
from evaluation.model import CONTROL, Reference
from evaluation.running.subject import ARGUMENTS, SCRIPT, Sample, Subject, seeds_of
from runner.bugs.bug import Target
from runner.execution.launch import launch
from runner.files import untrusted
from runner.session.session import Session

T = TypeVar("T")

# Of runs to learn from: no seed that is evaluated.
REFERENCE_SEEDS = (101, 102, 103, 104, 105, 106)
USUAL_COUNT = 2
MAX_LOSSES_BYTES = 64_000_000


class Baselines:
    """Programs of one evaluation, each run bare once, before any detector sees it."""

    def __init__(self, session: Session, controls: Controls) -> None:
        self.session = session
        self.controls = controls
        self._bare: dict[str, Sample | None] = {}
        self._losses: Once[Sequence[Mapping[str, Any]]] = Once()

    def subjects(
        self,
        targets: Sequence[Target],
        seeds: tuple[int, ...] | None = None,
        all_seeds: bool = False,
    ) -> list[Subject]:
        """The programs of targets, without probes; of each case the first seed, or all of them, or those given."""
        return [
            Subject(target.bug, run.bare)
            for target in targets
            for run in self.session.plan(target, seeds_of(target.case, seeds, all_seeds))
        ]

    def bare(self, subjects: Sequence[Subject], what: str = "bare: ") -> list[Sample]:
        """The programs that end well when they run by themselves, with their records."""
        missing = {
            subject.run.key: subject for subject in subjects if subject.run.key not in self._bare
        }
        for run, record in self.session.queue.do(
            [subject.run for subject in missing.values()], what
        ):
            sample = Sample(missing[run.key], record.metrics, seconds=record.wall_s)
            self._bare[run.key] = sample if record.ok else None
        return [good for subject in subjects if (good := self._bare[subject.run.key])]

    def with_losses(self, sample: Sample) -> Sample:
        """The sample with the loss of every iteration, taken by a monitor in a run of its own."""
        subject = sample.subject
        return replace(
            sample, losses=self._losses.get(subject.run.key, lambda: self._record_losses(subject))
        )

    def references(
        self, subject: Subject, how: Reference, count: int | None = None
    ) -> list[Subject] | None:
        """Clean runs to learn from for that program; None where there are none, or it is among those for all others.

        `count` is the number of seeds of its fixed twin; None: the usual one.
        """
        if how == "none":
            return []
        if how == "same":
            return self.subjects(
                [Target(subject.bug, subject.case, ("fixed",))],
                REFERENCE_SEEDS[: count or USUAL_COUNT],
            )
        if subject.bug.id == CONTROL and subject.case.name in self.controls.references:
            return None
        others = [
            Target(self.controls.bug, self.controls.bug.cases[n], ("fixed",))
            for n in self.controls.references
        ]
        return self.subjects(others, REFERENCE_SEEDS[:1]) or None

    def _record_losses(self, subject: Subject) -> Sequence[Mapping[str, Any]]:
        with self.session.store.working_directory() as scratch:
            return losses(subject, scratch)


def losses(subject: Subject, scratch: Path) -> Sequence[Mapping[str, Any]]:
    """The loss of every iteration of a program, taken by a monitor in a run of its own, inside of an empty folder."""
    run, directory = subject.run, scratch / "program"
    subject.lay_out(directory)
    launcher = [str(KIT / "launcher"), "../out", "--monitor", str(KIT / "losses_monitor.py")]
    argv = [str(run.runtime.python_path), *launcher, SCRIPT, *ARGUMENTS]
    launch(argv, directory, run, timeout_s=run.timeout_s, reads=[KIT], room=directory.parent)
    return _losses(directory / "losses.json")


def _losses(path: Path) -> list[Mapping[str, Any]]:
    """What the monitor wrote; nothing, where the program ended before that, or wrote something else there."""
    try:
        found = untrusted.read_json(path, MAX_LOSSES_BYTES, path.parent, constants=True)
    except untrusted.UnsafeError:
        return []
    return found if isinstance(found, list) else []


class Once(Generic[T]):
    """Values by key. What was raised in making one is raised again for everybody who asks for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, Future[T]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of that key, made by `make` if nobody has begun to make it."""
        with self._lock:
            first = key not in self._made
            future = self._made.setdefault(key, Future())
        if first:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def has(self, key: Hashable) -> bool:
        """Whether there is an end of making the value of that key, a value or what was raised."""
        with self._lock:
            return key in self._made and self._made[key].done()
