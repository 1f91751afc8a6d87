"""Bare runs: programs run by themselves, before any detector sees them,
with their records and losses.
"""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from evaluation.catalog.controls import Controls
from evaluation.keys import KIT
from evaluation.model import ARGUMENTS, SCRIPT, Reference
from evaluation.running.program import BareBaseline, ShownProgram, select_seeds
from runner.bugs.bug import Target
from runner.execution.launch import launch
from runner.files import untrusted
from runner.session.session import Session

T = TypeVar("T")
Losses = Sequence[Mapping[str, Any]]

# Seeds of runs to learn from; no program is shown to a detector with one of them.
REFERENCE_SEEDS = (101, 102, 103, 104, 105, 106)
USUAL_COUNT = 2
MAX_LOSSES_BYTES = 64_000_000


class BareRuns:
    """The programs of one campaign, each run bare once."""

    def __init__(self, session: Session, controls: Controls) -> None:
        self.session = session
        self.controls = controls
        # By the key of the run; None where it did not end well.
        self._baselines: dict[str, BareBaseline | None] = {}
        self._losses: Once[Losses] = Once()

    def programs(
        self,
        targets: Sequence[Target],
        seeds: Sequence[int] | None = None,
        all_seeds: bool = False,
    ) -> list[ShownProgram]:
        """The programs of targets, without probes; of each case the first seed, or all of them,
        or `seeds`.
        """
        programs = []
        for target in targets:
            runs = self.session.plan(target, select_seeds(target.case, seeds, all_seeds))
            programs += [ShownProgram(target.bug, run.bare) for run in runs]
        return programs

    def with_baselines(
        self, programs: Sequence[ShownProgram], label: str = "bare: "
    ) -> list[ShownProgram]:
        """The same programs after their bare runs; those that did not end well have no baseline."""
        runs = {
            program.key: program.run for program in programs if program.key not in self._baselines
        }
        for run, record in self.session.queue.do(list(runs.values()), label):
            baseline = BareBaseline(record.metrics, record.wall_s)
            self._baselines[run.key] = baseline if record.ok else None
        return [replace(program, baseline=self._baselines[program.key]) for program in programs]

    def with_losses(self, program: ShownProgram) -> ShownProgram:
        """The program with the loss of every iteration, taken by a monitor in a run of its own."""
        losses = self._losses.get(program.key, lambda: self._record_losses(program))
        return program.with_losses(losses)

    def references(
        self, program: ShownProgram, kind: Reference, count: int | None = None
    ) -> list[ShownProgram] | None:
        """Clean runs to learn from for a program; None where there are none,
        or it is one for all others.

        `count` is the number of seeds of its fixed twin; None: the usual one.
        """
        if kind == "none":
            return []
        if kind == "same":
            twin = Target(program.bug, program.case, ("fixed",))
            return self.programs([twin], REFERENCE_SEEDS[: count or USUAL_COUNT])
        names = self.controls.references
        if program.is_control and program.case.name in names:
            return None
        bug = self.controls.bug
        targets = [Target(bug, bug.cases[name], ("fixed",)) for name in names]
        return self.programs(targets, REFERENCE_SEEDS[:1]) or None

    def _record_losses(self, program: ShownProgram) -> Losses:
        with self.session.store.working_directory() as scratch:
            return record_losses(program, scratch)


def record_losses(program: ShownProgram, scratch: Path) -> Losses:
    """The loss of every iteration of a program, taken by a monitor in a run of its own,
    inside of an empty folder.
    """
    run, directory = program.run, scratch / "program"
    program.lay_out(directory)
    launcher = [str(KIT / "launcher"), "../out", "--monitor", str(KIT / "losses_monitor.py")]
    argv = [str(run.runtime.python_path), *launcher, SCRIPT, *ARGUMENTS]
    launch(argv, directory, run, timeout_s=run.timeout_s, reads=[KIT], room=directory.parent)
    return _read_losses(directory / "losses.json")


def _read_losses(path: Path) -> list[Mapping[str, Any]]:
    """The losses that the monitor wrote; nothing, where the program ended early,
    or wrote something else there.
    """
    try:
        losses = untrusted.read_json(path, MAX_LOSSES_BYTES, path.parent, constants=True)
    except untrusted.UnsafeError:
        return []
    return losses if isinstance(losses, list) else []


class Once(Generic[T]):
    """Values by key. What was raised in making a value is raised again for everybody who asks for
    it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._futures: dict[Hashable, Future[T]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of that key, made by `make` if nobody has begun to make it."""
        with self._lock:
            is_first = key not in self._futures
            future = self._futures.setdefault(key, Future())
        if is_first:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def has(self, key: Hashable) -> bool:
        """Whether making the value of that key has ended, with a value or with what was raised."""
        with self._lock:
            return key in self._futures and self._futures[key].done()
