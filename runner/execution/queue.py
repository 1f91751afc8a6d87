"""Which runs are to be done? Finished ones are found; the crew does the others, each by one program at a time."""

import itertools
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from runner.execution.execute import execute
from runner.execution.local import LocalPool, Report
from runner.execution.resources import Share
from runner.execution.run import Run
from runner.execution.scheduler import BusyError, Job
from runner.progress.lines import Progress
from runner.results.record import RunRecord
from runner.results.store import Store

# Each run with its record, as they end. Closing it stops what is under way.
Done = Generator[tuple[Run, RunRecord], None, None]
# The same of runs that are the same one.
DoneTogether = Generator[tuple[Sequence[Run], RunRecord], None, None]


class RunQueue:
    """Does runs and keeps their records. With `force`, finished ones are done again. Who does them is a subclass's."""

    def __init__(self, store: Store, progress: Progress, force: bool = False) -> None:
        self.store, self.progress, self.force = store, progress, force

    def do(self, runs: Sequence[Run], what: str = "") -> Done:
        """Each run with its record: finished ones first, the others as they end. `what` is said before each name.

        A run that is named twice is done once.
        """
        total, number = len(runs), itertools.count(1)
        missing: dict[tuple[str, int], list[Run]] = {}
        for run in runs:
            record = self._find(run)
            if record is None:
                missing.setdefault((run.key, run.repeat), []).append(run)
            else:
                self.progress.line(f"[{next(number)}/{total}] {what}{run.name}: done before")
                yield run, record
        jobs: list[Job[Sequence[Run]]] = [
            Job(same[0].name, same[0].need, same[0].estimate.seconds, same) for same in missing.values()
        ]
        with closing(self._do(jobs)) as done:
            for run, record in ((run, record) for same, record in done for run in same):
                self.progress.line(f"[{next(number)}/{total}] {what}{run.name}: {self._ended(record)}")
                yield run, record

    def _find(self, run: Run) -> RunRecord | None:
        again = self.force or run.runtime.broken is not None
        return None if again else self.store.find(run.case.bug, run.case.name, run.file_name, run.key)

    def _do(self, jobs: Sequence[Job[Sequence[Run]]]) -> DoneTogether:
        raise NotImplementedError

    def _ended(self, record: RunRecord) -> str:
        logs = "" if record.ok else f" (logs: {self.store.log_path(record, 'stderr')})"
        return f"{record.reason or 'ok'}, {record.wall_s:.1f} s{logs}"


class LocalQueue(RunQueue):
    """Runs on this machine, by threads of this process; what another trainbugs is doing is waited for."""

    def __init__(self, store: Store, pool: LocalPool, force: bool = False) -> None:
        super().__init__(store, pool.progress, force)
        self.pool = pool

    def _do(self, jobs: Sequence[Job[Sequence[Run]]]) -> DoneTogether:
        return self.pool.do(jobs, self._perform)

    def _perform(self, same: Sequence[Run], share: Share, report: Report) -> RunRecord:
        run = replace(same[0], gpu=share.gpu)
        with self.store.scratch.claim(f"{run.key}/{run.repeat}") as ours:
            if not ours:
                report(lambda: "another trainbugs is doing it")
                raise BusyError
            # The other one may have ended since we looked.
            return self._find(run) or execute(run, self.store, lambda elapsed, stdout: report(partial(_lines, stdout)))


def _lines(stdout: Path) -> str:
    try:
        count = stdout.read_bytes().count(b"\n")
    except OSError:
        return ""
    return f"{count} records"
