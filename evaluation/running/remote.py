"""Checks on the workers of a cluster: each is done on the worker's own disk, and sent back with what was written."""

import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from evaluation.catalog import detectors
from evaluation.model import Reference
from evaluation.records import CheckRecord
from evaluation.running.baseline import losses
from evaluation.running.evaluation import MAX_KEPT_BYTES, Evaluation, Settings, Task
from evaluation.running.subject import Sample, Subject
from evaluation.store.results import CheckStore
from runner.cluster import worker
from runner.cluster.calls import stop_if_abandoned
from runner.cluster.worker import Where
from runner.errors import ClusterError
from runner.execution.scheduler import Job
from runner.files import untrusted
from runner.files.folders import MAX_FILE_BYTES, files_in
from runner.files.locks import working_folder
from runner.files.trees import remove_tree
from runner.progress.lines import Progress

if TYPE_CHECKING:
    from evaluation.running.campaign import Check
    from runner.cluster.client import Cluster

# Of all that a detector wrote about one program.
MAX_BYTES = 4 * MAX_KEPT_BYTES


@dataclass(frozen=True)
class Order:
    """A check to be done elsewhere: the detector's files by their paths, and the task. `timeout_s` as in Settings."""

    name: str
    files: Mapping[str, bytes]
    how: Reference
    sample: Sample
    references: tuple[Subject, ...]
    clean: tuple[Sample, ...]
    timeout_s: float | None


@dataclass(frozen=True)
class Delivery:
    """A check that was done: its record, and what was kept beside it, by name."""

    record: CheckRecord
    files: Mapping[str, bytes]


class Remote:
    """Has checks done by the workers of a cluster."""

    def __init__(self, cluster: "Cluster", where: Where, progress: Progress) -> None:
        self.cluster, self.where, self.progress = cluster, where, progress

    def do(
        self, jobs: "Sequence[Job[Check]]"
    ) -> "Generator[tuple[Check, CheckRecord], None, None]":
        """Yields each check with its record, which is saved, as they end.

        Raises ClusterError where a worker cannot do one, or works with other code.
        """
        from runner.cluster.backend import ClusterPool

        def call(check: "Check") -> Future[Delivery]:
            return self.cluster.submit(perform, self.where, _order(check))

        for check, delivery in ClusterPool(self.cluster, self.progress).do(jobs, call):
            yield check, _kept(check, delivery)


def _order(check: "Check") -> Order:
    evaluation, task = check.evaluation, check.task
    folder = evaluation.detector.directory
    paths = [path for path in files_in(folder) if "__pycache__" not in path.parts]
    files = {
        path.relative_to(folder).as_posix(): untrusted.read_bytes(path, MAX_FILE_BYTES, folder)
        for path in paths
    }
    timeout_s = evaluation.settings.timeout_s
    return Order(
        evaluation.detector.name,
        files,
        evaluation.how,
        task.sample,
        task.references,
        task.clean,
        timeout_s,
    )


def _kept(check: "Check", delivery: Delivery) -> CheckRecord:
    """The record, saved with what came with it; raises ClusterError where it is not of this check."""
    record = with_fields(delivery.record, revision=check.blank.revision)
    if (record.key, record.kit) != (check.blank.key, check.blank.kit):
        raise ClusterError(
            f"{record.name}: a worker checked it with other code than is here; install the same there"
        )
    store = check.evaluation.settings.store
    folder = store.artefacts(record)
    remove_tree(folder)
    folder.mkdir(parents=True)
    for name, content in delivery.files.items():
        (folder / Path(name).name).write_bytes(content)
    store.save(record)
    return record


def perform(where: Where, order: Order) -> Delivery:
    """Do a check on this worker. Raises ClusterError where its programs cannot be run here."""
    with working_folder() as root:
        folder = root / "own" / order.name
        for name, content in order.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        store = CheckStore(root / "results")
        guarded = (where.root / "bugs", where.root / "detectors", where.root / "submissions")
        settings = Settings(store, guarded, _with_losses(root), order.timeout_s, trust=where.trust)
        with Evaluation(
            detectors.read(folder), order.how, settings, Progress(sys.stderr)
        ) as evaluation:
            record = evaluation.check(_task(where, order), _report)
        return Delivery(record, _files(store.artefacts(record)))


def _task(where: Where, order: Order) -> Task:
    """The task with the runs as they can be done on this worker."""

    def here(sample: Sample) -> Sample:
        return replace(sample, subject=_here(where, sample.subject))

    references = tuple(_here(where, subject) for subject in order.references)
    return Task(here(order.sample), references, tuple(map(here, order.clean)))


def _here(where: Where, subject: Subject) -> Subject:
    run = worker.here(where, subject.run)
    if run.runtime.broken:
        raise ClusterError(f"{subject.run.name}: {run.runtime.broken}")
    return replace(subject, run=run)


def _with_losses(root: Path) -> Callable[[Sample], Sample]:
    def taken(sample: Sample) -> Sample:
        with tempfile.TemporaryDirectory(dir=root) as folder:
            return replace(sample, losses=losses(sample.subject, Path(folder)))

    return taken


def _report(note: Callable[[], str]) -> None:
    stop_if_abandoned()


def _files(folder: Path) -> dict[str, bytes]:
    """What was kept of a check; what would make it too much is left out."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and sum(map(len, files.values())) + path.stat().st_size <= MAX_BYTES:
            files[path.name] = untrusted.read_bytes(path, MAX_KEPT_BYTES, folder)
    return files
