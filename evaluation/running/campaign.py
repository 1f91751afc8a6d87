"""A whole evaluation: detectors × programs × references, then overheads;
programs that somebody has still to look at run bare first.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evaluation.catalog.controls import load as load_controls
from evaluation.model import CONTROL
from evaluation.records import CheckRecord, OverheadRecord
from evaluation.running.adapter import environment_of
from evaluation.running.bare_runs import BareRuns
from evaluation.running.check_order import neutral_order
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.detector_run import DetectorRun, DetectorSettings
from evaluation.running.execute import (
    RecordByCheck,
    execute_checks,
    find_finished,
    find_record,
)
from evaluation.running.options import CampaignOptions
from evaluation.running.plan import plan_checks, ready_checks, rewrite_targets, select_targets
from evaluation.running.program import ShownProgram
from evaluation.running.timing import time_detectors
from evaluation.store.results import CheckStore
from runner.bugs.bug import Target
from runner.errors import UsageError
from runner.plurals import counted
from runner.progress.lines import Progress
from runner.sandbox import process
from runner.sandbox.isolation import isolation, weakness
from runner.session.forecast import forecast
from runner.session.session import Session


@dataclass(frozen=True)
class CampaignResult:
    """Records of an evaluation, which are kept in `folder`.

    `broken` are programs that do not run by themselves, so that no detector saw them.
    """

    checks: tuple[CheckRecord, ...]
    overheads: tuple[OverheadRecord, ...]
    broken: tuple[ShownProgram, ...]
    folder: Path


def run(options: CampaignOptions, session: Session) -> CampaignResult:
    """Do what is not done yet; records are kept in a folder of the session's results."""
    _refuse_contradictions(options, session)
    for detector in options.detectors:
        # A fault in a detector shows before the programs run, which takes long.
        environment_of(detector)
    controls = load_controls(session.catalog.root)
    _note_weakness(session.progress)
    published = select_targets(options, controls, session)
    _announce(published, options, session)
    shown_session, targets = rewrite_targets(options, published, session)

    bare_runs = BareRuns(shown_session, controls)
    settings = _settings(options, session, shown_session, bare_runs)
    programs = bare_runs.programs(targets, session.options.seeds, options.all_seeds)
    for detector in options.detectors:
        settings.store.save_detector(detector)
    with ExitStack() as stack:
        begun = _detector_runs(options, settings, session.progress)
        detector_runs = [stack.enter_context(detector_run) for detector_run in begun]
        shown = neutral_order(programs)
        planned = [
            check
            for detector_run in detector_runs
            for check in plan_checks(detector_run, shown, bare_runs)
        ]
        find = partial(find_record, force=options.force, committed=options.committed)
        finished = find_finished(planned, shown_session, find)
        if not session.remote:
            _make_ready(planned, finished)
        checks, broken = ready_checks(planned, finished, bare_runs)
        records = execute_checks(checks, finished, shown_session, find)
        overheads = time_detectors(checks, records, options, shown_session, bare_runs)
    return CampaignResult(
        tuple(records[check] for check in checks),
        tuple(overheads),
        tuple(broken),
        settings.store.root,
    )


def _make_ready(planned: Sequence[DetectorCheck], finished: RecordByCheck) -> None:
    """Build the environments of detectors that are needed. If that fails, it fails before the
    programs run.
    """
    needed = {
        check.detector_run: None
        for check in planned
        if check not in finished and check.detector_run.detector.supports(check.program.torch)
    }
    for detector_run in needed:
        _ = detector_run.adapter


def _refuse_contradictions(options: CampaignOptions, session: Session) -> None:
    if options.all_seeds and session.options.seeds is not None:
        raise UsageError("--all-seeds and --seeds choose seeds: name one of them")
    if session.remote and options.rewriting:
        raise UsageError("--perturb and --plant try programs on this machine: leave out --executor")


def _announce(targets: Sequence[Target], options: CampaignOptions, session: Session) -> None:
    """Say how long the programs will run: once bare, once under each detector that runs them."""
    watching = [detector for detector in options.detectors if "in_process" in detector.needs]
    once = forecast(
        session.catalog.root, targets, session.options, only_first_seed=not options.all_seeds
    )
    if once.is_long:
        whole = once.times(1 + len(watching))
        session.progress.line(f"{_counted(targets)}: {whole}")


def _counted(targets: Sequence[Target]) -> str:
    """For example `3 cases and 68 controls`."""
    controls = sum(target.bug.id == CONTROL for target in targets)
    cases = len(targets) - controls
    parts = [counted(cases, "case")] if cases else []
    parts += [counted(controls, "control")] if controls else []
    return " and ".join(parts)


def _note_weakness(progress: Progress) -> None:
    """Say once what detectors cannot be kept from on this machine."""
    weaker = weakness(isolation())
    if weaker:
        progress.note(weaker)
    reason = process.network_can_be_cut()
    if reason is not None:
        progress.note(f"detectors have the network, which would tell them the answers: {reason}")


def _settings(
    options: CampaignOptions, session: Session, shown_session: Session, bare_runs: BareRuns
) -> DetectorSettings:
    """The settings of all detector runs. Guarded are also the published programs of rewritten ones,
    and all results.
    """
    root, store = session.catalog.root, shown_session.store
    return DetectorSettings(
        store=CheckStore(store.root / options.folder, store.scratch.path),
        guarded=(root / "bugs", root / "detectors", root / "submissions", session.store.root),
        with_losses=bare_runs.with_losses,
        timeout_s=options.timeout_s,
        perturb=options.perturb,
        plant=options.plant,
        trust=session.options.trust_environments,
    )


def _detector_runs(
    options: CampaignOptions, settings: DetectorSettings, progress: Progress
) -> Iterable[DetectorRun]:
    """A run of each detector with each kind of references that it is to be given."""
    for detector in options.detectors:
        for kind in detector.with_references:
            if kind in ("none", *options.references):
                yield DetectorRun(detector, kind, settings, progress)
