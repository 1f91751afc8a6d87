"""Queues of runs: finished runs are taken from the results folder, the others are executed, each
one only once.
"""

import itertools
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from runner.execution.execute import execute
from runner.execution.import_times import import_seconds
from runner.execution.local import LocalPool, Report
from runner.execution.resources import Share
from runner.execution.run import Run
from runner.execution.scheduler import BusyError, Job
from runner.progress.lines import Progress
from runner.progress.stopwatch import Stopwatch
from runner.results.record import RunRecord
from runner.results.store import Store
from runner.sandbox.streams import count_lines

# Phases of runs: what their programs do, and what is done around them.
IMPORTS, SCRIPTS, AROUND = "imports of programs", "rest of programs", "around programs"
# Yields each run with its record, as they end. Closing it stops the runs under way.
Done = Generator[tuple[Run, RunRecord], None, None]
# The same, with identical runs (of one key and repeat) together.
DoneTogether = Generator[tuple[Sequence[Run], RunRecord], None, None]


class RunQueue:
    """Executes runs and keeps their records; with `force`, also runs that are finished.

    Subclasses say where.
    """

    def __init__(self, store: Store, progress: Progress, force: bool = False) -> None:
        self.store, self.progress, self.force = store, progress, force

    def do(self, runs: Sequence[Run], prefix: str = "") -> Done:
        """Yields each run with its record: finished ones first, the others as they end.

        `prefix` is printed before each name. A run that is listed twice is executed once.
        """
        self.store.sweep()
        total, number = len(runs), itertools.count(1)
        missing: dict[tuple[str, int], list[Run]] = {}

        def note_again(text: str) -> None:
            self.progress.line(f"{text}; the run is done again")

        for run in runs:
            record = self._find(run, note_again)
            if record is None:
                missing.setdefault((run.key, run.repeat), []).append(run)
            else:
                self.progress.line(f"[{next(number)}/{total}] {prefix}{run.name}: done before")
                yield run, record
        jobs: list[Job[Sequence[Run]]] = [
            Job(same[0].name, same[0].need, same[0].estimate.seconds, same)
            for same in missing.values()
        ]
        with closing(self._do(jobs)) as done:
            for same, record in done:
                say = self.progress.line if record.ok else self.progress.note
                for run in same:
                    say(f"[{next(number)}/{total}] {prefix}{run.name}: {self._ended(record)}")
                    yield run, record

    def _find(self, run: Run, say: Callable[[str], None] = lambda text: None) -> RunRecord | None:
        if self.force or run.runtime.broken is not None:
            return None
        return self.store.find(run.case.bug, run.case.name, run.file_name, run.key, say)

    def _do(self, jobs: Sequence[Job[Sequence[Run]]]) -> DoneTogether:
        raise NotImplementedError

    def _ended(self, record: RunRecord) -> str:
        logs = "" if record.ok else f" (logs: {self.store.log_path(record, 'stderr')})"
        return f"{record.reason or 'ok'}, {record.wall_s:.1f} s{logs}"


class LocalQueue(RunQueue):
    """Executes runs in threads of this process; waits for those that another trainbugs is
    executing.
    """

    def __init__(
        self,
        store: Store,
        pool: LocalPool,
        force: bool = False,
        stopwatch: Stopwatch | None = None,
    ) -> None:
        super().__init__(store, pool.progress, force)
        self.pool = pool
        self.stopwatch = stopwatch or Stopwatch()

    def _do(self, jobs: Sequence[Job[Sequence[Run]]]) -> DoneTogether:
        return self.pool.do(jobs, self._perform)

    def _perform(self, same: Sequence[Run], share: Share, report: Report) -> RunRecord:
        run = replace(same[0], gpu=share.gpu)
        with self.store.scratch.claim(f"{run.key}/{run.repeat}") as ours:
            if not ours:
                report(lambda: "another trainbugs is doing it")
                raise BusyError
            # Another trainbugs may have finished it since the first check.
            return self._find(run) or self._execute(run, report)

    def _execute(self, run: Run, report: Report) -> RunRecord:
        start = time.perf_counter()
        record = execute(run, self.store, lambda elapsed, stdout: report(partial(_lines, stdout)))
        if run.profiled:
            imports = import_seconds(self.store.log_path(record, "stderr"))
            self.stopwatch.add(IMPORTS, imports)
            self.stopwatch.add(SCRIPTS, max(0.0, record.wall_s - imports))
            self.stopwatch.add(AROUND, time.perf_counter() - start - record.wall_s)
        return record


def _lines(stdout: BinaryIO) -> str:
    try:
        return f"{count_lines(stdout)} records"
    except (OSError, ValueError):  # closed: the run has just ended
        return ""
