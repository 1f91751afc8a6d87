"""The execution of a study: by the same sessions as cases, with finished runs taken from the
results folder.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from runner.bugs.catalog import Catalog
from runner.execution.run import Run
from runner.progress.lines import Progress
from runner.results.record import RunRecord
from runner.results.store import Store
from runner.session.options import Options
from runner.session.session import Session, connected
from runner.studies import table
from runner.studies.cells import Cell, cells
from runner.studies.definition import Point, Study
from runner.studies.plan import plan
from runner.studies.table import KEY_LENGTH, StudyRow

# Rows by the keys of their runs: none.
NONE_KEPT: Mapping[str, Sequence[StudyRow]] = {}


@dataclass(frozen=True)
class Results:
    """What is known of a study: the rows of its table, and the records where they were read from a
    results folder.
    """

    study: Study
    rows: Sequence[StudyRow]
    records: Sequence[RunRecord] = ()

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells with both programs."""
        return cells(self.study, self.rows)

    @property
    def points(self) -> int:
        """The number of points of which there are runs."""
        return len({row.point for row in self.rows})

    @property
    def invalid(self) -> int:
        """The number of INVALID runs, which count in no other number."""
        return sum(not row.ok for row in self.rows)


def run_study(
    catalog: Catalog,
    study: Study,
    options: Options,
    progress: Progress,
    points: int | None,
    keep: bool = False,
) -> Results:
    """Run the study, or that many more of its points; returns all that is known of it then.

    Finished runs are not executed again. Failed ones are, except where a number of points is given:
    then a point that has been tried counts as done. With `keep`, whole runs of the committed table
    with present keys are finished ones. Raises UsageError or ResultsError.
    """
    committed = _whole(study) if keep else {}
    with connected(options) as cluster:
        session = Session(catalog, options, progress, cluster)
        planned = plan(session, study)
        left_out = len(study.points) - len(planned)
        if left_out:
            progress.note(
                f"{study.id}: {left_out} points are left out, they need data: name a folder by "
                "--data"
            )
        keys = [run.key for runs in planned.values() for run in runs]
        kept_rows = {
            key: committed[key[:KEY_LENGTH]] for key in keys if key[:KEY_LENGTH] in committed
        }
        if committed:
            progress.note(
                f"{study.id}: {len(kept_rows)} runs are kept from {study.path('.csv').name}"
            )
        runs = _next(planned, session.store, points, options.force, kept_rows)
        with closing(session.execute(runs)) as ended:
            for _ in ended:
                pass
        return _collect(study, planned, session.store, kept_rows)


def collect_results(
    catalog: Catalog, study: Study, options: Options, progress: Progress
) -> Results:
    """What a results folder holds of the study as it is now; nothing is run."""
    session = Session(catalog, options, progress)
    return _collect(study, plan(session, study), session.store)


def _whole(study: Study) -> dict[str, list[StudyRow]]:
    """The rows of each run in the committed table that has all of its trainings, by the first
    digits of its key.
    """
    runs: dict[str, list[StudyRow]] = {}
    for row in table.read(study):
        if row.ok:
            runs.setdefault(row.run["key"], []).append(row)
    return {key: rows for key, rows in runs.items() if len(rows) == study.written.records}


def _next(
    planned: Mapping[Point, Sequence[Run]],
    store: Store,
    points: int | None,
    again: bool,
    kept_rows: Collection[str],
) -> list[Run]:
    """The runs to execute; finished ones may be among them."""
    by_point: list[list[Run]] = []
    for runs in planned.values():
        pending = [run for run in runs if run.key not in kept_rows]
        if points is not None and not again:
            pending = [run for run in pending if _tried(store, run) is None]
        by_point.append(pending)
    if points is not None:
        by_point = [runs for runs in by_point if runs][:points]
    return list(chain.from_iterable(by_point))


def _tried(store: Store, run: Run) -> RunRecord | None:
    return store.find(run.case.bug, run.case.name, run.file_name, run.key, failed=True)


def _collect(
    study: Study,
    planned: Mapping[Point, Iterable[Run]],
    store: Store,
    kept_rows: Mapping[str, Sequence[StudyRow]] = NONE_KEPT,
) -> Results:
    run_records: list[tuple[Point, RunRecord]] = []
    for point, runs in planned.items():
        for run in runs:
            record = None if run.key in kept_rows else _tried(store, run)
            if record:
                run_records.append((point, record))
    rows = [*table.rows(study, run_records), *chain.from_iterable(kept_rows.values())]
    return Results(study, rows, [record for _, record in run_records])
