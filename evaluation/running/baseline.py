"""What are detectors given to look at? Programs that ran well by themselves, with their records and losses."""

import json
import tempfile
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from evaluation.catalog.controls import Controls
from evaluation.model import CONTROL
from evaluation.running.adapter import KIT, Sample
from evaluation.running.program import Program
from runner.bugs.model import Target
from runner.execution.launch import launch
from runner.session.session import Session

T = TypeVar("T")

# Of runs to learn from: no seed that is evaluated.
REFERENCE_SEEDS = (101, 102)


class Baselines:
    """Programs of one evaluation, each run bare once, before any detector sees it."""

    def __init__(self, session: Session, controls: Controls) -> None:
        self.session = session
        self.controls = controls
        self._bare: dict[str, Sample | None] = {}
        self._losses: Once[Sequence[Mapping[str, Any]]] = Once()

    def programs(self, targets: Sequence[Target], seeds: tuple[int, ...] | None = None) -> list[Program]:
        """The programs of targets; of each case the first seed, or those given."""
        return [
            Program(target.bug, run)
            for target in targets
            for run in self.session.plan(target, seeds or target.case.seeds[:1])
        ]

    def bare(self, programs: Sequence[Program], what: str = "bare: ") -> list[Sample]:
        """The programs that end well when they run by themselves, with their records."""
        missing = {program.run.key: program for program in programs if program.run.key not in self._bare}
        for run, record in self.session.queue.do([program.run for program in missing.values()], what):
            sample = Sample(missing[run.key], record.metrics, seconds=record.wall_s)
            self._bare[run.key] = sample if record.ok else None
        return self.known(programs)

    def known(self, programs: Sequence[Program]) -> list[Sample]:
        """Those of the programs that have ended well when they ran."""
        return [sample for program in programs if (sample := self._bare[program.run.key])]

    def with_losses(self, sample: Sample) -> Sample:
        """The sample with the loss of every iteration, taken by a monitor in a run of its own."""
        program = sample.program
        return replace(sample, losses=self._losses.get(program.run.key, lambda: self._record_losses(program)))

    def references(self, program: Program, how: str) -> list[Program] | None:
        """Clean runs to learn from for that program; None where there are none, or it is among those for all others."""
        if how == "none":
            return []
        if how == "same":
            return self.programs([Target(program.bug, program.case, ("fixed",))], REFERENCE_SEEDS)
        if program.bug.id == CONTROL and program.case.name in self.controls.references:
            return None
        others = [Target(self.controls.bug, self.controls.bug.cases[n], ("fixed",)) for n in self.controls.references]
        return self.programs(others, REFERENCE_SEEDS[:1]) or None

    def _record_losses(self, program: Program) -> Sequence[Mapping[str, Any]]:
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch) / "program"
            program.lay_out(directory)
            run = program.run
            launcher = [str(KIT / "launcher.py"), "../out", "--monitor", str(KIT / "losses_monitor.py")]
            argv = [str(run.runtime.python_path), *launcher, "program.py", "config.json"]
            launch(argv, directory, run, timeout_s=run.timeout_s)
            path = directory / "losses.json"
            found: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        return found


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
