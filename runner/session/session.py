"""The session: plans the runs of targets, has them executed, and judges their records."""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import chain, product
from typing import TYPE_CHECKING

from runner.bugs.bug import FAULT, Target
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.bugs.program import Variant
from runner.environments import spec
from runner.environments.runtime import Runtime, RuntimeFinder, Runtimes
from runner.errors import ResultsError, UsageError
from runner.execution import downloads
from runner.execution.estimate import Estimate, estimates
from runner.execution.key import data_digest, read_scripts
from runner.execution.local import LocalPool
from runner.execution.queue import Done, LocalQueue, RunQueue
from runner.execution.resources import Slots
from runner.execution.run import Run
from runner.plurals import counted
from runner.progress.lines import Progress
from runner.progress.stopwatch import Stopwatch
from runner.results.expected import expected_records, upstream_records
from runner.results.record import RunRecord
from runner.results.revision import NOT_RUN_OF_BUGS, find_revision
from runner.results.store import Store
from runner.sandbox.isolation import isolation, weakness
from runner.session.forecast import forecast
from runner.session.lenient_runtimes import LenientRuntimes
from runner.session.options import Options
from runner.verdicts.drift import drift
from runner.verdicts.outcome import Outcome, summary
from runner.verdicts.repeatability import judge
from runner.verdicts.verdict import unjudged

if TYPE_CHECKING:
    from runner.cluster.client import Cluster
    from runner.cluster.worker import Where

# Phases of a command.
ENVIRONMENTS, JUDGING = "environments", "judging"


class Session:
    """Runs targets, as many runs at a time as there are slots; every interpreter is probed once.

    With a cluster its workers execute the runs, and have the environments.
    """

    def __init__(
        self,
        catalog: Catalog,
        options: Options,
        progress: Progress,
        cluster: "Cluster | None" = None,
        stopwatch: Stopwatch | None = None,
    ) -> None:
        self.catalog = catalog
        self.stopwatch = stopwatch or Stopwatch()
        self.options = options
        self.progress = progress
        self.store = Store(options.results.absolute())
        self.data = options.data and options.data.absolute()
        self.pool = LocalPool(Slots(options.at_a_time, options.gpus, options.per_gpu), progress)
        # The cluster, and how its workers find environments; None on this machine.
        self.remote: tuple[Cluster, Where] | None = None
        self.runtimes, self.queue = (
            self._on_cluster(cluster) if cluster else self._on_this_machine()
        )

    def _on_this_machine(self) -> tuple[RuntimeFinder, RunQueue]:
        options = self.options
        runtimes = Runtimes(
            self.catalog.root,
            self.progress,
            options.device,
            options.python,
            options.keep,
            options.trust_environments,
        )
        force = options.force or options.profile
        return runtimes, LocalQueue(self.store, self.pool, force, self.stopwatch)

    def _on_cluster(self, cluster: "Cluster") -> tuple[RuntimeFinder, RunQueue]:
        from runner.cluster.backend import ClusterQueue, ClusterRuntimes
        from runner.cluster.worker import Where

        options = self.options
        where = Where(self.catalog.root, options.device, options.python, options.trust_environments)
        self.remote = cluster, where
        runtimes = ClusterRuntimes(cluster, where, self.progress)
        return runtimes, ClusterQueue(self.store, cluster, where, self.progress, self.options.force)

    def run(self, targets: Sequence[Target]) -> list[Outcome]:
        """Run and judge all targets; missing environments are built first.

        A verdict is written as soon as the last run of its target has ended. Raises UsageError,
        before anything runs, for a case that can have no verdict.
        """
        for target in targets:
            obstacle = unjudged(target.case)
            if obstacle:
                again = f"trainbugs run {self.catalog.shell_name(target.bug)} --record-only"
                raise UsageError(
                    f"{target.case.id}: {obstacle}; `{again}` gives the records to write it by"
                )
        outcomes = dict(self.outcomes(targets))
        return [outcomes[index] for index in range(len(targets))]

    def outcomes(self, targets: Sequence[Target]) -> Generator[tuple[int, Outcome], None, None]:
        """Run and judge targets that can have a verdict; yields the index of each with its outcome,
        as they end.
        """
        with closing(self._records(targets)) as done:
            for index, records in done:
                yield index, self._outcome(targets[index], records)

    def records(self, targets: Sequence[Target]) -> list[RunRecord]:
        """The records of the runs of all targets, target by target, without verdicts."""
        by_target = dict(self._records(targets))
        return [record for index in range(len(targets)) for record in by_target[index]]

    def _records(
        self, targets: Sequence[Target]
    ) -> Generator[tuple[int, tuple[RunRecord, ...]], None, None]:
        """Yields the index of each target with the records of its runs; all are planned before the
        first one starts.
        """
        for target in targets:
            self._refuse_impossible(target)
        self._announce(targets)
        planned = [self.plan(target) for target in targets]
        target_indices = {id(run): index for index, runs in enumerate(planned) for run in runs}
        remaining = Counter(target_indices.values())
        done: dict[int, RunRecord] = {}
        for index, runs in enumerate(planned):
            if not runs:
                yield index, ()
        with closing(self.execute(list(chain.from_iterable(planned)))) as ended:
            for run, record in ended:
                done[id(run)] = record
                index = target_indices[id(run)]
                remaining[index] -= 1
                if not remaining[index]:
                    yield index, tuple(done[id(run)] for run in planned[index])

    def _announce(self, targets: Sequence[Target]) -> None:
        """Say how long the runs of all targets will take, where that is long."""
        expected = forecast(self.catalog.root, targets, self.options)
        if expected.is_long:
            self.progress.line(f"{counted(len(targets), 'case')}: {expected}")

    def execute(self, runs: Sequence[Run]) -> Done:
        """Yields each of these runs with its record, as they end; finished ones are not executed
        again.
        """
        if self.options.executor == "local":
            weaker = weakness(isolation())
            if weaker:
                self.progress.line(weaker)
            advice = downloads.advice(runs)
            if advice:
                self.progress.note(advice)
        return self.queue.do(runs)

    def plan(self, target: Target, seeds: Sequence[int] | None = None) -> list[Run]:
        """The runs of a target, with these seeds, or by default the seeds of the options, or of the
        case.

        Missing environments are built. Raises UsageError where the runs are impossible with these
        options, and what the finder of runtimes raises.
        """
        options, case = self.options, target.case
        self._refuse_impossible(target)
        self.store.reserve(self.catalog, target.bug)
        revision = find_revision(target.bug.directory, NOT_RUN_OF_BUGS)
        scripts = {
            name: read_scripts(target.bug, case.program.variants[name], options.inject)
            for name in target.variants
        }
        digest = data_digest(case, self.data)
        estimate_by_variant = estimates(target.bug, case)
        runtimes = {name: self.runtime_of(case.program.variants[name]) for name in target.variants}
        if "gpu" in case.program.tools:
            _require_gpu(case, runtimes.values())
        if seeds is None:
            seeds = case.program.seeds if options.seeds is None else options.seeds
        repeats = range(1, options.repeat + 1)
        return [
            Run(
                case=case,
                variant=variant,
                seed=seed,
                runtime=runtimes[variant],
                timeout_s=options.timeout_s or case.program.timeout_s,
                scripts=scripts[variant],
                data=self.data,
                data_digest=digest,
                revision=revision,
                injected=options.inject,
                repeat=repeat,
                estimate=estimate_by_variant.get(variant, Estimate()),
                max_memory_mb=options.max_memory_gb and options.max_memory_gb * 1000,
                network=options.network,
                profiled=options.profile,
            )
            for repeat, seed, variant in product(repeats, seeds, target.variants)
        ]

    def _refuse_impossible(self, target: Target) -> None:
        """Raise UsageError where the runs of a target are impossible with these options."""
        options = self.options
        if options.inject and target.bug.fault is None:
            raise UsageError(
                f"{target.bug.id} ships no {FAULT}: its fault cannot be put back; leave out "
                "--inject"
            )
        self._refuse_missing(target)
        if target.case.program.data and self.data is None and not options.network:
            raise UsageError(
                f"{target.case.id} downloads its data: name a folder that has it by --data; see "
                "--no-network"
            )

    def _refuse_missing(self, target: Target) -> None:
        """Raise UsageError where a script or an environment of a variant is not there."""
        for name in target.variants:
            variant = target.case.program.variants[name]
            where = f"{target.case.id}/{name}"
            if not variant.script.is_file():
                raise UsageError(
                    f"{where}: there is no {variant.script.name} in {target.bug.directory}; "
                    "add it, or name another script"
                )
            if self.options.environment or self.options.python:
                continue
            try:
                spec.load(self.catalog.root, variant.place)
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from error

    def runtime_of(self, variant: Variant) -> Runtime:
        """Where a variant runs; raises UsageError where GPUs are named and it sees none."""
        with self.stopwatch.phase(ENVIRONMENTS):
            runtime = self.runtimes.get(self.options.environment or variant.place)
        if self.options.gpus and not runtime.broken and runtime.device == "cpu":
            torch = f"torch {runtime.torch}" if runtime.torch else "no torch"
            raise UsageError(
                f"--gpus: {runtime.environment} ({torch}) sees no GPU here; to use the CPU, leave "
                "it out"
            )
        return runtime

    def _outcome(self, target: Target, records: tuple[RunRecord, ...]) -> Outcome:
        with self.stopwatch.phase(JUDGING):
            records += tuple(self.store.other_repeats(records))
            verdict, repeatability = judge(target.case, records)
            distance = self._drift(target, records)
            injected = self.options.inject
            outcome = Outcome(target, verdict, records, distance, injected, repeatability)
            if verdict.outcome:
                self.store.save_verdict(target.bug.id, target.case.name, injected, summary(outcome))
            return outcome

    def _drift(self, target: Target, records: Sequence[RunRecord]) -> float | None:
        bug, name = target.bug, target.case.name
        devices = sorted({record.runtime.kind_of_device for record in records})
        expected: list[RunRecord] = []
        try:
            for device in devices:
                expected += expected_records(bug, name, device)
                expected += upstream_records(bug, name, device)
            return drift(target.case, records, expected)
        except ResultsError as error:
            self.progress.note(f"{target.case.id}: no drift: {error}")
            return None


def run_targets(
    catalog: Catalog,
    targets: Sequence[Target],
    options: Options,
    progress: Progress,
    stopwatch: Stopwatch | None = None,
) -> list[Outcome]:
    """Run and judge all targets, on this machine or on the workers that `options.executor`
    names. `stopwatch` gets the seconds of each phase.

    On this machine an environment that cannot be built ends the runs that need it, and no others.
    Raises UnbuiltError where that is so of all of them.
    """
    with connected(options) as cluster:
        session = Session(catalog, options, progress, cluster, stopwatch)
        places = _places(targets, options)
        if cluster is None and len(places) > 1:
            finder = session.runtimes
            session.runtimes = LenientRuntimes(finder, catalog.root, progress, len(places))
        return session.run(targets)


def record_targets(
    catalog: Catalog, targets: Sequence[Target], options: Options, progress: Progress
) -> list[tuple[Target, list[RunRecord]]]:
    """Run all targets, and give the records of each; nothing is judged, so that there need be no
    expectations.
    """
    with connected(options) as cluster:
        records = Session(catalog, options, progress, cluster).records(targets)
    by_case: dict[str, list[RunRecord]] = {}
    for record in records:
        by_case.setdefault(f"{record.bug}/{record.case}", []).append(record)
    return [(target, by_case.get(target.case.id, [])) for target in targets]


def _places(targets: Sequence[Target], options: Options) -> set[str]:
    """The environments that the runs of targets need, by name or folder."""
    if options.environment or options.python:
        return set()
    variants = [
        target.case.program.variants[name] for target in targets for name in target.variants
    ]
    return {variant.place for variant in variants}


def _require_gpu(case: Case, runtimes: Iterable[Runtime]) -> None:
    """Raise UsageError where one of the runtimes is on a CPU."""
    for runtime in runtimes:
        if not runtime.broken and runtime.device == "cpu":
            where = runtime.python_path if runtime.built is None else runtime.environment
            reason = f"{where} has no torch"
            if runtime.torch:
                reason = f"torch {runtime.torch} of {where} sees none"
            raise UsageError(f"{case.id} needs a GPU; {reason}; see --device and --python")


def connected(options: Options) -> "AbstractContextManager[Cluster | None]":
    """A context with the cluster that `options.executor` names; None for this machine."""
    if options.executor == "local":
        return nullcontext()
    from runner.cluster.client import connect

    return connect(options.executor, options.jobs or 1, options.results.absolute() / "slurm")
