"""How does a whole evaluation go? Detectors × programs × references, then overheads; programs run bare first."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

from evaluation.catalog import controls
from evaluation.model import CONTROL, REFERENCES, Detector
from evaluation.records import CheckRecord, Evaluations, OverheadRecord
from evaluation.running.adapter import Sample
from evaluation.running.baseline import Baselines
from evaluation.running.evaluation import Evaluation, Settings, said
from evaluation.running.overhead import measure
from evaluation.running.program import Program
from runner.bugs.model import Target
from runner.errors import UsageError
from runner.execution.local import Report
from runner.execution.resources import Share
from runner.execution.scheduler import Job
from runner.session.session import Session

# Long enough to be timed, and needs no data. Where it is not among the programs nothing is timed.
USUAL = "SO-60335387/digits"


@dataclass(frozen=True)
class Campaign:
    """What to evaluate. `bugs` are BUG or BUG/CASE (none: all whose data is there); None for `overhead_on`: no timing.

    `references` are the kinds that detectors with reference runs are given.
    """

    detectors: Sequence[Detector]
    bugs: Sequence[str] = ()
    with_controls: bool = True
    references: tuple[str, ...] = REFERENCES
    overhead_on: str | None = USUAL
    repeats: int = 3
    force: bool = False
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for what cannot be meant."""
        names = [detector.name for detector in self.detectors]
        for name in {name for name in names if names.count(name) > 1}:
            raise UsageError(f"two detectors are named {name!r}: their records would be mixed; name one at a time")
        if self.repeats < 1:
            raise UsageError(f"repeats are {self.repeats}, expected a number of at least 1")


@dataclass(frozen=True)
class Result:
    """Records of an evaluation; `broken` are programs that do not run by themselves, so that no detector saw them."""

    checks: tuple[CheckRecord, ...]
    overheads: tuple[OverheadRecord, ...]
    broken: tuple[Program, ...]


def run(campaign: Campaign, session: Session) -> Result:
    """Do what is not done yet; records are kept in the folder detectors of the session's results."""
    root, results = session.catalog.root, session.store.root
    evaluations = Evaluations(results / "detectors")
    guarded = (root / "bugs", root / "detectors", results)
    settings = Settings(evaluations, guarded, campaign.force, campaign.timeout_s)
    found = controls.load(root)
    samples = Baselines(session, found)
    chosen = _targets(campaign, session)
    if campaign.overhead_on not in (None, USUAL, *(target.case.id for target in chosen)):
        raise UsageError(f"--overhead {campaign.overhead_on}: not among the programs; name one of --bugs, or none")
    targets = [*chosen, *(found.targets() if campaign.with_controls else ())]
    programs = samples.programs(targets, session.options.seeds)
    # In an order that has nothing to do with which is which: a detector might remember.
    good = sorted(samples.bare(programs), key=lambda sample: sample.program.run.key)
    for detector in campaign.detectors:
        evaluations.save_detector(detector)
    with ExitStack() as stack:
        looking = [
            stack.enter_context(Evaluation(detector, how, samples, settings, session.progress))
            for detector in campaign.detectors
            for how in (each for each in detector.references if each in ("none", *campaign.references))
        ]
        made = _checks(looking, samples, good, session)
        # One at a time, with nothing else beside them: these are timings.
        overheads = [record for each in looking for record in _overheads(campaign, each, good, made)]
    checks = tuple(made[each, sample] for each in looking for sample in good if (each, sample) in made)
    broken = {program.run.key for program in programs} - {sample.program.run.key for sample in good}
    return Result(checks, tuple(overheads), tuple(p for p in programs if p.run.key in broken))


def _targets(campaign: Campaign, session: Session) -> list[Target]:
    """Both variants of the cases that are named, or of all that can run here."""
    named = session.catalog.select(campaign.bugs or session.catalog.active())
    for target in named:
        if len(target.variants) == 1:
            raise UsageError(f"{target.case.id}: a detector is scored on both variants; name BUG or BUG/CASE")
    left_out = [t for t in named if t.case.program.data and session.options.data is None and not campaign.bugs]
    for target in left_out:
        session.progress.line(f"{target.case.id}: left out, it needs --data; name it to let it download")
    return [target for target in named if target not in left_out]


Made = dict[tuple[Evaluation, Sample], CheckRecord]


def _checks(looking: Sequence[Evaluation], samples: Baselines, good: Sequence[Sample], session: Session) -> Made:
    """The records of all checks: finished ones are found, the others made, as many at a time as there are slots."""
    made: Made = {}
    jobs = []
    for evaluation in looking:
        references = [evaluation.references(sample.program) for sample in good]
        samples.bare([program for programs in references for program in programs or ()], "reference: ")
        for sample in (sample for sample, programs in zip(good, references, strict=True) if programs is not None):
            item = evaluation, sample
            record = evaluation.find(sample)
            if record is None:
                run = sample.program.run
                jobs.append(Job(f"{evaluation.label} on {run.name}", run.need, sample.seconds, item))
                continue
            made[item] = record
            session.progress.line(f"{evaluation.label} on {record.name} seed {record.seed}: done before")
    with closing(session.pool.do(jobs, _check)) as done:
        for number, ((evaluation, sample), record) in enumerate(done, 1):
            made[evaluation, sample] = record
            what = f"[{number}/{len(jobs)}] {evaluation.label} on {record.name} seed {record.seed}"
            session.progress.line(f"{what}: {said(record)}")
    return made


def _check(item: tuple[Evaluation, Sample], share: Share, report: Report) -> CheckRecord:
    evaluation, sample = item
    program = replace(sample.program, run=replace(sample.program.run, gpu=share.gpu))
    return evaluation.check(replace(sample, program=program), report)


def _overheads(campaign: Campaign, evaluation: Evaluation, good: Sequence[Sample], made: Made) -> list[OverheadRecord]:
    """Timings on the fixed program of the case that was named, if this detector trains at all."""
    for sample in good:
        record = made.get((evaluation, sample))
        here = record and f"{record.bug}/{record.case}" == campaign.overhead_on and record.kind == "fixed"
        if record and here and record.seconds.training and sample.program.bug.id != CONTROL:
            found = measure(evaluation, sample, record.seconds.training, campaign.repeats)
            return [found] if found else []
    return []
