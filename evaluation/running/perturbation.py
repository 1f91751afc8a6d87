"""Perturbed programs: both twins rewritten, and shown to detectors only if they still do what they
did.
"""

from collections.abc import Mapping, Sequence, Set

from msgspec.structs import replace

from evaluation.rewriting.layout import RewriteError, RewrittenText
from evaluation.rewriting.twins import keywords, names_to_keep, rewrite
from evaluation.running.rewritten_session import RewrittenProgram, RewrittenSession, run_targets
from runner.bugs.bug import PROBE, Target
from runner.bugs.case import Case, Oracle, Site
from runner.execution.key import HARNESS, read_scripts
from runner.results.record import RunRecord
from runner.session.session import Session
from runner.verdicts.drift import drift
from runner.verdicts.verdict import REPRODUCED, verify

# Files beside a script that are the benchmark's, and no part of the program.
NO_PROGRAM = (PROBE, HARNESS.name)
# Texts by the names of files, or what became of them.
Texts = dict[str, str]
NewTexts = dict[str, RewrittenText]


def perturb_targets(
    session: Session, targets: Sequence[Target], seed: int, all_seeds: bool = False
) -> tuple[RewrittenSession, list[Target]]:
    """A session of perturbed programs, and those targets that are the same programs by other names.

    Each is run as it is published and as it is rewritten, with the seeds that detectors meet; a
    line says which are left out, and why.
    """
    rewritten_session = RewrittenSession(session, f"perturb-{seed}")
    programs = []
    for target in targets:
        try:
            programs.append(perturb(target, seed))
        except RewriteError as error:
            session.progress.note(f"{target.case.id}: left out, {error}")
    published = run_targets(session, [program.source for program in programs], all_seeds)
    rewritten_session.add(programs)
    rewritten = run_targets(rewritten_session, [program.target for program in programs], all_seeds)
    equal_targets = []
    for program in programs:
        case = program.target.case
        reason = find_change(case, published[case.id], rewritten[case.id])
        if reason:
            session.progress.note(f"{case.id}: left out, {reason}")
        else:
            equal_targets.append(program.target)
    return rewritten_session, equal_targets


def find_change(
    case: Case, published: Sequence[RunRecord], rewritten: Sequence[RunRecord]
) -> str | None:
    """Why rewritten programs do not stand for the published ones; None where they do.

    Both have to be REPRODUCED (expectations about several seeds do not count), with the same
    metrics to the last bit. Where there can be no verdict, as of a control, both have to run well.
    """
    expectations = case.oracle.expectations
    single = [expectation for expectation in expectations if expectation.across_seeds is None]
    case = replace(case, oracle=Oracle(tuple(single), case.oracle.volatile))
    for kind, records in (("published", published), ("rewritten", rewritten)):
        verdict = verify(case, records)
        if verdict.outcome not in (None, REPRODUCED):
            return f"{verdict.outcome} as it is {kind}: {verdict.reason}"
    distance = drift(case, rewritten, published)
    if distance == 0:
        return None
    return f"its metrics are not the same when it is rewritten (drift {distance:.2g})"


def perturb(target: Target, seed: int) -> RewrittenProgram:
    """The target with its program rewritten, its site moved along; raises RewriteError."""
    case, bug = target.case, target.bug
    texts = {variant: read_texts(target, variant) for variant in target.variants}
    probe = bug.probe.read_text(encoding="utf-8", errors="replace") if bug.probe else None
    kept_names = names_to_keep(case.program.parameters, probe, bug.site.api)
    rewritten = _rewrite_variants(target, texts, seed, kept_names)
    scripts = {variant: encode_texts(new_texts) for variant, new_texts in rewritten.items()}
    # The site is in the buggy script, or in a module that both variants have.
    site = _move_site(bug.site, rewritten[target.variants[0]])
    shown = Target(replace(bug, site=site), case, target.variants)
    variants = {variant: variant for variant in target.variants}
    return RewrittenProgram(shown, target, variants, scripts)


def read_texts(target: Target, variant: str) -> Texts:
    """The texts of a program, by the names of its files, without the bug's probe;
    raises RewriteError.
    """
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


def encode_texts(texts: Mapping[str, RewrittenText]) -> dict[str, bytes]:
    """The files of a rewritten program."""
    return {name: text.text.encode() for name, text in texts.items()}


def _rewrite_variants(
    target: Target, texts: Mapping[str, Texts], seed: int, kept_names: Set[str]
) -> dict[str, NewTexts]:
    """The texts of all files, rewritten, by variant: scripts together,
    so that twins differ by the fault alone.
    """
    called_keywords: set[str] = set()
    for variant_texts in texts.values():
        for text in variant_texts.values():
            called_keywords |= keywords(text)
    variants = target.case.program.variants
    names = {variant: variants[variant].script.name for variant in target.variants}
    scripts = {variant: texts[variant][names[variant]] for variant in target.variants}
    rewritten: dict[str, NewTexts] = {}
    for variant, new_text in rewrite(scripts, seed, kept_names).items():
        rewritten[variant] = {names[variant]: new_text}
        for module, text in texts[variant].items():
            if module == names[variant]:
                continue
            # Each variant gets the same: of the module's own text, and of the keywords by which
            # others call it.
            new_module = rewrite({"": text}, seed, kept_names | called_keywords, module=True)
            rewritten[variant][module] = new_module[""]
    return rewritten


def _move_site(site: Site, texts: Mapping[str, RewrittenText]) -> Site:
    if site.file not in texts or site.line is None:
        return site
    return replace(site, line=texts[site.file].lines.get(site.line))
