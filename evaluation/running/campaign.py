"""A whole evaluation: detectors × programs × references, then overheads; programs run bare first."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from evaluation.catalog import controls
from evaluation.catalog.controls import Controls
from evaluation.model import REFERENCES, Detector, Reference, Training
from evaluation.records import CheckRecord, OverheadRecord, rewritten_as
from evaluation.running import overhead
from evaluation.running.adapter import environment_of
from evaluation.running.baseline import Baselines
from evaluation.running.evaluation import Evaluation, Settings, Task
from evaluation.running.perturbation import perturbed
from evaluation.running.planting import planted
from evaluation.running.subject import Sample, Subject
from evaluation.store.results import CheckStore
from runner.bugs.bug import Target
from runner.bugs.catalog import with_upstream
from runner.errors import UsageError
from runner.execution.local import Report
from runner.execution.resources import Share
from runner.execution.scheduler import BusyError, Job
from runner.sandbox import process
from runner.sandbox.isolation import isolation, weakness
from runner.session.selection import labelled, without_gpu_cases
from runner.session.session import Session

# Long enough to be timed, and needs no data. Where it is not among the programs nothing is timed.
USUAL = "SO-60335387/digits"


@dataclass(frozen=True)
class Campaign:
    """What to evaluate. `bugs` are BUG or BUG/CASE (none: all whose data is there); None for `overhead_on`: no timing.

    `controls`: all of them, the `same` (basic ones in the environments of the bugs), or none. `references` are the
    kinds that detectors with reference runs are given. With `upstream` they meet the buggy scripts in releases with the
    real fix, too, with `all_seeds` each case that needs no data with all of its seeds, not only with the first one. By
    the seed `perturb` they meet the programs rewritten, by `plant` programs with planted faults; neither is timed.
    """

    detectors: Sequence[Detector]
    bugs: Sequence[str] = ()
    controls: Literal["all", "same", "none"] = "all"
    references: tuple[Reference, ...] = REFERENCES
    overhead_on: str | None = USUAL
    repeats: int = 3
    force: bool = False
    timeout_s: float | None = None
    upstream: bool = False
    all_seeds: bool = False
    perturb: int | None = None
    plant: int | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for what cannot be meant."""
        names = [detector.name for detector in self.detectors]
        for name in {name for name in names if names.count(name) > 1}:
            raise UsageError(
                f"two detectors are named {name!r}: their records would be mixed; name one at a time"
            )
        if self.repeats < 1:
            raise UsageError(f"repeats are {self.repeats}, expected a number of at least 1")
        if self.perturb is not None and self.plant is not None:
            raise UsageError(
                "programs are perturbed or planted with faults: name one of --perturb and --plant"
            )
        if self.upstream and self.rewriting:
            raise UsageError(
                "--upstream is for scripts as they are published: leave out --perturb and --plant"
            )
        if self.rewriting and self.overhead_on not in (None, USUAL):
            raise UsageError(
                f"--overhead {self.overhead_on}: rewritten programs are not timed; leave it out"
            )

    @property
    def rewriting(self) -> str:
        """How programs are rewritten, with the seed: the name of a folder; empty where they are as published."""
        return rewritten_as(self.perturb, self.plant)


@dataclass(frozen=True)
class Result:
    """Records of an evaluation, which are kept in `folder`.

    `broken` are programs that do not run by themselves, so that no detector saw them.
    """

    checks: tuple[CheckRecord, ...]
    overheads: tuple[OverheadRecord, ...]
    broken: tuple[Subject, ...]
    folder: Path


@dataclass(frozen=True, eq=False)
class Check:
    """A task of one evaluation, and its record as far as it is known before it is done."""

    evaluation: Evaluation
    task: Task
    blank: CheckRecord


Records = Mapping[Check, CheckRecord]


def run(campaign: Campaign, session: Session) -> Result:
    """Do what is not done yet; records are kept in the folder detectors of the session's results."""
    if campaign.all_seeds and session.options.seeds is not None:
        raise UsageError("--all-seeds and --seeds choose seeds: name one of them")
    if session.remote and campaign.rewriting:
        raise UsageError("--perturb and --plant try programs on this machine: leave out --executor")
    for detector in campaign.detectors:
        # What is wrong in one is said before the programs run, which takes long.
        environment_of(detector)
    root, results = session.catalog.root, session.store.root
    clean = controls.load(root)
    guarded = (root / "bugs", root / "detectors", root / "submissions", results)
    _warn(session)
    targets = _targets(campaign, session)
    targets += _controls(campaign.controls, clean, targets, session)
    session, targets = _rewritten(campaign, session, targets)
    store = CheckStore(session.store.root / "detectors", session.store.scratch.path)
    baselines = Baselines(session, clean)
    settings = Settings(
        store,
        guarded,
        baselines.with_losses,
        campaign.timeout_s,
        campaign.perturb,
        campaign.plant,
        session.options.trust_environments,
    )
    subjects = baselines.subjects(targets, session.options.seeds, campaign.all_seeds)
    # In an order that has nothing to do with which is which: a detector might remember.
    samples = sorted(baselines.bare(subjects), key=lambda sample: sample.subject.run.key)
    for detector in campaign.detectors:
        store.save_detector(detector)
    with ExitStack() as stack:
        evaluations = [
            stack.enter_context(Evaluation(detector, how, settings, session.progress))
            for detector in campaign.detectors
            for how in detector.with_references
            if how in ("none", *campaign.references)
        ]
        checks = [check for each in evaluations for check in _plan(each, samples, baselines)]
        records = _do(checks, campaign, store, session)
        # One at a time, with nothing else beside them: these are timings.
        chosen = _to_time(checks, records, campaign)
        if session.remote and chosen:
            session.progress.note(
                "nothing is timed on a cluster: for overheads leave out --executor"
            )
        timed = [
            _time(check, records[check], campaign, store) for check in chosen if not session.remote
        ]
    good = {sample.subject.run.key for sample in samples}
    return Result(
        tuple(records[check] for check in checks),
        tuple(record for record in timed if record),
        tuple(subject for subject in subjects if subject.run.key not in good),
        store.root,
    )


def _rewritten(
    campaign: Campaign, session: Session, targets: list[Target]
) -> tuple[Session, list[Target]]:
    """The session and the targets that detectors meet: these, or what is made of them."""
    if campaign.perturb is not None:
        return perturbed(session, targets, campaign.perturb, campaign.all_seeds)
    if campaign.plant is not None:
        return planted(session, targets, campaign.plant, campaign.all_seeds)
    return session, targets


def _targets(campaign: Campaign, session: Session) -> list[Target]:
    """Both variants of the cases that are named, or of all that can run here; with labels, of bugs that have one."""
    names = labelled(
        session.catalog, campaign.bugs or session.catalog.active(), session.options.label
    )
    named = session.catalog.select(names)
    named, notes = without_gpu_cases(named, campaign.bugs or (), session.options)
    for note in notes:
        session.progress.note(note)
    for target in named:
        if len(target.variants) == 1:
            raise UsageError(
                f"{target.case.id}: a detector is scored on both variants; name BUG or BUG/CASE"
            )
    left_out = [
        t
        for t in named
        if t.case.program.data and session.options.data is None and not campaign.bugs
    ]
    for target in left_out:
        session.progress.note(
            f"{target.case.id}: left out, it needs --data; name it to let it download"
        )
    targets = [target for target in named if target not in left_out]
    if campaign.overhead_on not in (None, USUAL, *(target.case.id for target in targets)):
        raise UsageError(
            f"--overhead {campaign.overhead_on}: not among the programs; name one of --bugs, or none"
        )
    return [with_upstream(target) for target in targets] if campaign.upstream else targets


def _warn(session: Session) -> None:
    """Say once what detectors cannot be kept from on this machine."""
    weaker = weakness(isolation())
    if weaker:
        session.progress.note(weaker)
    reason = process.network_can_be_cut()
    if reason is not None:
        session.progress.note(
            f"detectors have the network, which would tell them the answers: {reason}"
        )


def _controls(
    which: str, clean: Controls, bugs: Sequence[Target], session: Session
) -> list[Target]:
    """The controls to show; a line says which are left out for their environment."""
    if which == "none":
        return []
    same = {
        variant.environment for target in bugs for variant in target.case.program.variants.values()
    }
    targets = clean.targets()
    kept = [t for t in targets if t.case.program.variants["fixed"].environment in same]
    left_out = [target.case.name for target in targets if target not in kept]
    if which == "all":
        return targets
    if left_out:
        session.progress.line(
            f"left out, of other environments than the bugs: control {', '.join(left_out)}"
        )
    if clean.look_alikes:
        session.progress.line(
            f"left out, for sanitizers: {len(clean.look_alikes)} controls (--controls all)"
        )
    return [target for target in kept if target.case.name not in clean.look_alikes]


def _plan(evaluation: Evaluation, samples: Sequence[Sample], baselines: Baselines) -> list[Check]:
    """The checks of an evaluation; what its detector learns from is run bare."""
    count = evaluation.detector.reference_count
    references = {
        sample: baselines.references(sample.subject, evaluation.how, count) for sample in samples
    }
    baselines.bare(
        [subject for subjects in references.values() for subject in subjects or ()], "reference: "
    )
    tasks = [
        Task(sample, tuple(subjects), tuple(baselines.bare(subjects)))
        for sample, subjects in references.items()
        if subjects is not None
    ]
    return [Check(evaluation, task, evaluation.blank(task)) for task in tasks]


def _do(
    checks: Sequence[Check], campaign: Campaign, store: CheckStore, session: Session
) -> Records:
    """The records of all checks: finished ones are found, the others made, as many at a time as there are slots."""
    records: dict[Check, CheckRecord] = {}
    jobs = []
    for check in checks:
        record = None if campaign.force else store.find(check.blank)
        if record:
            records[check] = record
            session.progress.line(f"{_label(check)}: done before")
            continue
        sample = check.task.sample
        run = sample.subject.run
        jobs.append(Job(f"{check.evaluation.label} on {run.name}", run.need, sample.seconds, check))
    with closing(_done(jobs, session)) as done:
        for number, (check, record) in enumerate(done, 1):
            records[check] = record
            say = (
                session.progress.line
                if record.status in ("ok", "unsupported")
                else session.progress.note
            )
            say(f"[{number}/{len(jobs)}] {_label(check)}: {_ending(record)}")
    return records


def _done(
    jobs: Sequence[Job[Check]], session: Session
) -> Generator[tuple[Check, CheckRecord], None, None]:
    """Each check with its record, as they end: done here, or by the workers of a cluster."""
    if session.remote is None:
        return session.pool.do(jobs, _check)
    from evaluation.running.remote import Remote

    return Remote(*session.remote, session.progress).do(jobs)


def _check(check: Check, share: Share, report: Report) -> CheckRecord:
    sample = check.task.sample
    subject = replace(sample.subject, run=replace(sample.subject.run, gpu=share.gpu))
    task = replace(check.task, sample=replace(sample, subject=subject))
    with check.evaluation.turn(task.reference_keys) as free:
        if not free:
            raise BusyError
        return check.evaluation.check(task, report)


def _to_time(checks: Sequence[Check], records: Records, campaign: Campaign) -> list[Check]:
    """Of each evaluation the check on the fixed program of the case that was named, if its detector trains at all.

    By the smallest seed, so that it is the same one whatever others there are.
    """
    if campaign.rewriting:
        return []
    chosen: dict[Evaluation, Check] = {}
    for check in sorted(checks, key=lambda check: records[check].seed):
        record = records[check]
        here = f"{record.bug}/{record.case}" == campaign.overhead_on and record.kind == "fixed"
        if here and record.seconds.training:
            chosen.setdefault(check.evaluation, check)
    return list(chosen.values())


def _time(
    check: Check, record: CheckRecord, campaign: Campaign, store: CheckStore
) -> OverheadRecord | None:
    """The timing of a detector on the program of a finished check: what that timed is timed here."""
    evaluation, task = check.evaluation, check.task
    assert record.seconds.training is not None
    of = record.seconds.training.of
    blank = overhead.blank(record, of, task.sample, evaluation.digest, campaign.repeats)
    known = None if campaign.force else store.find(blank)
    if known:
        return known
    alone = overhead.bare_adapter(evaluation.adapter, of)

    def bare() -> tuple[Training | None, float]:
        with evaluation.place() as place:
            answer, seconds = alone.check(task.sample, None, place, lambda elapsed: None)
        return answer.training, seconds

    def watched() -> tuple[Training | None, float]:
        with evaluation.place() as place:
            _, taken = evaluation.answer(task, place, lambda note: None)
        return taken.training, taken.check

    timed = overhead.measure(
        blank,
        bare,
        watched,
        repeats=campaign.repeats,
        line=lambda text: evaluation.progress.line(f"{evaluation.label}: {text}"),
    )
    if timed:
        store.save(timed)
    return timed


def _label(check: Check) -> str:
    return f"{check.evaluation.label} on {check.blank.name} seed {check.blank.seed}"


def _ending(record: CheckRecord) -> str:
    """How a check ended, for the user."""
    seconds = f"{record.seconds.check:.1f} s"
    if record.status != "ok":
        return f"{record.status}: {record.reason}, {seconds}"
    many = len(record.alarms) + record.dropped
    iterations = [alarm.iteration for alarm in record.alarms if alarm.iteration is not None]
    since = f", first at iteration {min(iterations)}" if iterations else ""
    return f"{many} alarm{'' if many == 1 else 's'}{since}, {seconds}"
