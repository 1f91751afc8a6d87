"""The plan of a campaign: the programs that are shown,
and the checks of every detector run on them.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from evaluation.catalog.controls import Controls
from evaluation.running.bare_runs import BareRuns
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.detector_run import DetectorRun
from evaluation.running.options import USUAL, CampaignOptions
from evaluation.running.perturbation import perturb_targets
from evaluation.running.planting import plant_targets
from evaluation.running.program import ShownProgram
from runner.bugs.bug import Target
from runner.bugs.catalog import with_upstream
from runner.errors import UsageError
from runner.session.selection import labelled, without_gpu_cases
from runner.session.session import Session


def select_targets(options: CampaignOptions, controls: Controls, session: Session) -> list[Target]:
    """The cases of bugs, and the controls, as they are published."""
    bugs = _select_bugs(options, session)
    return bugs + _select_controls(options.controls, controls, bugs, session)


def rewrite_targets(
    options: CampaignOptions, targets: list[Target], session: Session
) -> tuple[Session, list[Target]]:
    """The session and the targets that detectors meet: these, or rewritten ones."""
    if options.perturb is not None:
        return perturb_targets(session, targets, options.perturb, options.all_seeds)
    if options.plant is not None:
        return plant_targets(session, targets, options.plant, options.all_seeds)
    return session, targets


def plan_checks(
    detector_run: DetectorRun, programs: Iterable[ShownProgram], bare_runs: BareRuns
) -> list[DetectorCheck]:
    """The checks of a detector run, with the references that its detector learns from; nothing has
    run yet.
    """
    count = detector_run.detector.reference_count
    checks = []
    for program in programs:
        references = bare_runs.references(program, detector_run.reference_kind, count)
        if references is not None:
            checks.append(DetectorCheck(detector_run, program, tuple(references)))
    return checks


def ready_checks(
    checks: Sequence[DetectorCheck], finished: Container[DetectorCheck], bare_runs: BareRuns
) -> tuple[list[DetectorCheck], list[ShownProgram]]:
    """The checks, after bare runs of the programs and the references of those that are still to be
    done; and the programs that do not end well alone, whose checks are left out.
    """
    unfinished = [check for check in checks if check not in finished]
    # All of them at once, as many at a time as there are slots.
    programs = {check.program.key: check.program for check in unfinished}
    ran = {program.key: program for program in bare_runs.with_baselines(list(programs.values()))}
    bare_runs.with_baselines(
        [reference for check in unfinished for reference in check.references], "reference: "
    )
    ready = []
    for check in checks:
        if check in finished:
            ready.append(check)
        elif ran[check.program.key].baseline:
            references = tuple(bare_runs.with_baselines(check.references))
            ready.append(replace(check, program=ran[check.program.key], references=references))
    return ready, [program for program in ran.values() if not program.baseline]


def _select_bugs(options: CampaignOptions, session: Session) -> list[Target]:
    """Both variants of the cases that are named, or of all that can run here; with labels,
    of bugs that have one.
    """
    names = labelled(
        session.catalog, options.bugs or session.catalog.active(), session.options.label
    )
    selected, notes = without_gpu_cases(
        session.catalog.select(names), options.bugs or (), session.options
    )
    for note in notes:
        session.progress.note(note)
    for target in selected:
        if len(target.variants) == 1:
            raise UsageError(
                f"{target.case.id}: a detector is scored on both variants; name BUG or BUG/CASE"
            )
    targets = []
    for target in selected:
        if target.case.program.data and session.options.data is None and not options.bugs:
            session.progress.note(
                f"{target.case.id}: left out, it needs --data; name it to let it download"
            )
        else:
            targets.append(target)
    ids = [target.case.id for target in targets]
    if options.overhead_on not in (None, USUAL, *ids):
        raise UsageError(
            f"--overhead {options.overhead_on}: not among the programs; name one of --bugs, or none"
        )
    return [with_upstream(target) for target in targets] if options.upstream else targets


def _select_controls(
    which_controls: str, controls: Controls, bugs: Sequence[Target], session: Session
) -> list[Target]:
    """The controls to show; a line says which are left out for their environment."""
    if which_controls == "none":
        return []
    targets = controls.targets()
    if which_controls == "all":
        return targets
    environments = {
        variant.environment for bug in bugs for variant in bug.case.program.variants.values()
    }
    same = [
        target
        for target in targets
        if target.case.program.variants["fixed"].environment in environments
    ]
    other_names = [target.case.name for target in targets if target not in same]
    if other_names:
        session.progress.line(
            f"left out, of other environments than the bugs: control {', '.join(other_names)}"
        )
    if controls.look_alikes:
        session.progress.line(
            f"left out, for sanitizers: {len(controls.look_alikes)} controls (--controls all)"
        )
    return [target for target in same if target.case.name not in controls.look_alikes]
