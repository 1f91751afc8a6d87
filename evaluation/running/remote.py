"""Checks on the workers of a cluster: each is done on the worker's own disk,
and sent back with what was written.
"""

import socket
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from evaluation.catalog import detectors
from evaluation.model import Reference
from evaluation.records import CheckRecord
from evaluation.running.bare_runs import record_losses
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.detector_run import DetectorRun, DetectorSettings
from evaluation.running.program import ShownProgram
from evaluation.running.recording import MAX_KEPT_BYTES, do_check
from evaluation.store.results import CheckStore
from runner.cluster import worker
from runner.cluster.calls import UnfitError, stop_if_abandoned
from runner.cluster.worker import Where
from runner.errors import ClusterError, EnvironmentBuildError
from runner.execution.scheduler import Job
from runner.files import untrusted
from runner.files.folders import MAX_FILE_BYTES, files_in
from runner.files.locks import working_folder
from runner.files.trees import remove_tree
from runner.progress.lines import Progress

if TYPE_CHECKING:
    from runner.cluster.client import Cluster

# Size of all files that a detector wrote about one program.
MAX_BYTES = 4 * MAX_KEPT_BYTES


@dataclass(frozen=True)
class CheckOrder:
    """A check to be done elsewhere, with the detector's files by their paths. `timeout_s` as in
    DetectorSettings.
    """

    name: str
    files: Mapping[str, bytes]
    reference_kind: Reference
    program: ShownProgram
    references: tuple[ShownProgram, ...]
    timeout_s: float | None


@dataclass(frozen=True)
class CheckDelivery:
    """A check that was done: its record, and the files that were kept beside it, by name."""

    record: CheckRecord
    files: Mapping[str, bytes]


class Remote:
    """Has checks done by the workers of a cluster."""

    def __init__(self, cluster: "Cluster", where: Where, progress: Progress) -> None:
        self.cluster, self.where, self.progress = cluster, where, progress

    def do(
        self, jobs: Sequence[Job[DetectorCheck]]
    ) -> Generator[tuple[DetectorCheck, CheckRecord], None, None]:
        """Yields each check with its record, which is saved, as they end.

        Raises ClusterError where a worker cannot do one, or works with other code.
        """
        from runner.cluster.backend import ClusterPool

        def call(check: DetectorCheck) -> Future[CheckDelivery]:
            needs = f"{check.detector_run.detector.name}, {check.program.run.runtime.environment}"
            return self.cluster.submit(perform, self.where, _order(check), needs=needs)

        for check, delivery in ClusterPool(self.cluster, self.progress).do(jobs, call):
            yield check, _keep(check, delivery)


def _order(check: DetectorCheck) -> CheckOrder:
    detector_run = check.detector_run
    folder = detector_run.detector.directory
    paths = [path for path in files_in(folder) if "__pycache__" not in path.parts]
    files = {
        path.relative_to(folder).as_posix(): untrusted.read_bytes(path, MAX_FILE_BYTES, folder)
        for path in paths
    }
    return CheckOrder(
        detector_run.detector.name,
        files,
        detector_run.reference_kind,
        check.program,
        check.references,
        detector_run.settings.timeout_s,
    )


def _keep(check: DetectorCheck, delivery: CheckDelivery) -> CheckRecord:
    """The record, saved with what came with it; raises ClusterError where it is not of this
    check.
    """
    blank = check.blank_record()
    record = with_fields(delivery.record, revision=blank.revision)
    if (record.key, record.kit) != (blank.key, blank.kit):
        raise ClusterError(
            f"{record.name}: a worker checked it with other code than is here; "
            "install the same there"
        )
    store = check.detector_run.settings.store
    folder = store.artefacts(record)
    remove_tree(folder)
    folder.mkdir(parents=True)
    for name, content in delivery.files.items():
        (folder / Path(name).name).write_bytes(content)
    store.save(record)
    return record


def perform(where: Where, order: CheckOrder) -> CheckDelivery:
    """Do a check on this worker. Raises ClusterError where its programs cannot be run here, and
    UnfitError where their environment cannot be built here.
    """
    with working_folder() as root:
        folder = root / "own" / order.name
        for name, content in order.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        settings = DetectorSettings(
            store=CheckStore(root / "results"),
            guarded=(where.root / "bugs", where.root / "detectors", where.root / "submissions"),
            with_losses=_losses_in(root),
            timeout_s=order.timeout_s,
            trust=where.trust,
        )
        detector = detectors.read(folder)
        progress = Progress(sys.stderr)
        with DetectorRun(detector, order.reference_kind, settings, progress) as detector_run:
            program = _on_worker(where, order.program)
            references = [_on_worker(where, reference) for reference in order.references]
            check = DetectorCheck(detector_run, program, tuple(references))
            try:
                record = do_check(check, _report)
            except EnvironmentBuildError as error:
                place = f"worker {socket.gethostname()}"
                named = type(error)(f"{place}: {error}")
                raise UnfitError(str(error), error=named) from error
        return CheckDelivery(record, _read_files(settings.store.artefacts(record)))


def _on_worker(where: Where, program: ShownProgram) -> ShownProgram:
    """The program with a run as it can be done on this worker."""
    try:
        run = worker.localise(where, program.run)
    except UnfitError as error:
        refusal = ClusterError(f"{program.run.name}: {error.answer.runtime.broken}")
        raise UnfitError(error.why, error=refusal) from error
    if run.runtime.broken:
        raise ClusterError(f"{program.run.name}: {run.runtime.broken}")
    return program.with_run(run)


def _losses_in(root: Path) -> Callable[[ShownProgram], ShownProgram]:
    """The function that gives a program its losses, by a run in a folder of `root`."""

    def with_losses(program: ShownProgram) -> ShownProgram:
        with tempfile.TemporaryDirectory(dir=root) as folder:
            return program.with_losses(record_losses(program, Path(folder)))

    return with_losses


def _report(note: Callable[[], str]) -> None:
    stop_if_abandoned()


def _read_files(folder: Path) -> dict[str, bytes]:
    """The files that were kept of a check, up to MAX_BYTES together."""
    files: dict[str, bytes] = {}
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in paths:
        total_bytes = sum(len(content) for content in files.values())
        if path.is_file() and total_bytes + path.stat().st_size <= MAX_BYTES:
            files[path.name] = untrusted.read_bytes(path, MAX_KEPT_BYTES, folder)
    return files
