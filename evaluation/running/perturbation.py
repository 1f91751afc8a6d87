"""Perturbed programs: both twins rewritten, and shown to detectors only if they still do what they did."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from evaluation.rewriting.layout import RewriteError, Text
from evaluation.rewriting.twins import kept_for, keywords, rewrite
from evaluation.running.rewritten import Program, RewrittenSession, records_of
from runner.bugs.bug import PROBE, Target
from runner.bugs.case import Case, Oracle, Site
from runner.execution.key import HARNESS, read_scripts
from runner.results.record import RunRecord
from runner.session.session import Session
from runner.verdicts.drift import drift
from runner.verdicts.verdict import REPRODUCED, verify

# Files beside a script that are the benchmark's, and no part of the program.
NO_PROGRAM = (PROBE, HARNESS.name)


def perturbed(
    session: Session, targets: Sequence[Target], seed: int, all_seeds: bool = False
) -> tuple[RewrittenSession, list[Target]]:
    """A session of perturbed programs, and those targets that are the same programs by other names.

    Each is run as it is published and as it is rewritten, with the seeds that detectors meet; a line says which are
    left out, and why.
    """
    inner = RewrittenSession(session, f"perturb-{seed}")
    programs = []
    for target in targets:
        try:
            programs.append(perturb(target, seed))
        except RewriteError as error:
            session.progress.note(f"{target.case.id}: left out, {error}")
    published = records_of(session, [program.source for program in programs], all_seeds)
    inner.add(programs)
    rewritten = records_of(inner, [program.target for program in programs], all_seeds)
    kept = []
    for target in (program.target for program in programs):
        why = changed(target.case, published[target.case.id], rewritten[target.case.id])
        if why:
            session.progress.note(f"{target.case.id}: left out, {why}")
        else:
            kept.append(target)
    return inner, kept


def changed(
    case: Case, published: Sequence[RunRecord], rewritten: Sequence[RunRecord]
) -> str | None:
    """Why rewritten programs do not stand for the published ones; None where they do.

    Both have to be REPRODUCED (expectations about several seeds do not count), with the same metrics to the last bit.
    Where there can be no verdict, as of a control, both have to run well.
    """
    single = tuple(each for each in case.oracle.expectations if each.across_seeds is None)
    case = replace(case, oracle=Oracle(single, case.oracle.volatile))
    for how, records in (("published", published), ("rewritten", rewritten)):
        verdict = verify(case, records)
        if verdict.outcome not in (None, REPRODUCED):
            return f"{verdict.outcome} as it is {how}: {verdict.reason}"
    distance = drift(case, rewritten, published)
    return (
        None
        if distance == 0
        else f"its metrics are not the same when it is rewritten (drift {distance:.2g})"
    )


def perturb(target: Target, seed: int) -> Program:
    """The target with its program rewritten, its site moved along; raises RewriteError."""
    case, bug = target.case, target.bug
    files = {name: files_of(target, name) for name in target.variants}
    probe = bug.probe.read_text(encoding="utf-8", errors="replace") if bug.probe else None
    kept = kept_for(case.program.parameters, probe, bug.site.api)
    own = {name: case.program.variants[name].script.name for name in target.variants}
    called = {
        keyword for texts in files.values() for text in texts.values() for keyword in keywords(text)
    }
    texts = rewrite({name: files[name].pop(own[name]) for name in target.variants}, seed, kept)
    rewritten = {name: {own[name]: text} for name, text in texts.items()}
    for name in target.variants:
        for module, text in files[name].items():
            # Each variant gets the same: of the module's own text, and of the keywords by which others call it.
            rewritten[name][module] = rewrite({"": text}, seed, kept | called, module=True)[""]
    scripts = {
        name: {file: text.text.encode() for file, text in each.items()}
        for name, each in rewritten.items()
    }
    # The site is of the buggy script, or of a module that both have.
    moved = replace(bug, site=_moved(bug.site, rewritten[target.variants[0]]))
    shown = Target(moved, case, target.variants)
    return Program(shown, target, {name: name for name in target.variants}, scripts)


def files_of(target: Target, variant: str) -> dict[str, str]:
    """The texts of a program, by the names of its files, without the bug's probe; raises RewriteError."""
    script = target.case.program.variants[variant].script
    scripts = read_scripts(target.bug, target.case.program.variants[variant])
    if script.name not in scripts:
        raise RewriteError(f"there is no {script.name}")
    try:
        return {
            name: text.decode("utf-8") for name, text in scripts.items() if name not in NO_PROGRAM
        }
    except UnicodeDecodeError as error:
        raise RewriteError(f"it is not UTF-8: {error}") from error


def _moved(site: Site, files: Mapping[str, Text]) -> Site:
    if site.file not in files or site.line is None:
        return site
    return replace(site, line=files[site.file].lines.get(site.line))
