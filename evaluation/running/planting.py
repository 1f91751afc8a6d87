"""Programs with planted faults, shown to detectors beside the clean ones if the fault does harm."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from evaluation.keys import KIT
from evaluation.model import CONTROL
from evaluation.planting import judgements
from evaluation.planting.harm import Harm, harm, moves
from evaluation.planting.judgements import Judgement
from evaluation.planting.operators import Planted, fitting
from evaluation.rewriting.layout import RewriteError
from evaluation.rewriting.twins import kept_for, rewrite
from evaluation.running.perturbation import files_of
from evaluation.running.rewritten import Program, RewrittenSession
from evaluation.running.subject import ARGUMENTS, SCRIPT, Subject, seeds_of
from runner.bugs.bug import Target
from runner.bugs.case import GroundTruth, Oracle, Site
from runner.bugs.program import Variant
from runner.execution.launch import launch
from runner.execution.run import Run
from runner.files import untrusted
from runner.results.record import RunRecord
from runner.session.session import Session
from runner.verdicts.drift import drift

# Seeds on which the oracle compares a program with and without the fault.
SEEDS = 3
# It is not imported: whoever does that writes its file at the end.
MONITOR = Path(__file__).parents[1] / "planting" / "moves_monitor.py"


@dataclass(frozen=True)
class Candidate:
    """A program with a fault, before it is known whether that does harm."""

    program: Program
    planted: Planted

    @property
    def target(self) -> Target:
        return self.program.target


def planted(
    session: Session, targets: Sequence[Target], seed: int, all_seeds: bool = False
) -> tuple[RewrittenSession, list[Target]]:
    """A session of planted programs, and the targets whose fault does harm; the others are named, and counted.

    One fault is put into each control and into the fixed program of each bug, by the seed; both twins are rewritten.
    """
    inner = RewrittenSession(session, f"plant-{seed}")
    candidates = [
        each for target in _sources(targets) for each in _candidates(target, seed, session)
    ]
    inner.add(each.program for each in candidates)
    judged = _judge(candidates, session, inner, all_seeds)
    kept = [each.target for each, found in judged if found.shown]
    for each, found in judged:
        if not found.shown:
            session.progress.line(f"{each.target.case.id}: discarded, {found.why}")
    session.progress.note(
        f"planted faults: {len(kept)} do harm, {len(judged) - len(kept)} are discarded"
    )
    judgements.write(
        inner.store.root, [_described(*each) for each in judged], inner.store.scratch.path
    )
    return inner, kept


def _sources(targets: Sequence[Target]) -> list[Target]:
    """The clean programs: controls, and the fixed one of each bug, of the first of its cases with that script."""
    scripts: dict[Path, Target] = {}
    for target in targets:
        script = target.case.program.variants["fixed"].script
        scripts.setdefault(script, Target(target.bug, target.case, ("fixed",)))
    return list(scripts.values())


def _candidates(source: Target, seed: int, session: Session) -> Iterator[Candidate]:
    """One fault for a clean program; none, with a line that says so, where no operator fits."""
    try:
        files = files_of(source, "fixed")
        script = source.case.program.variants["fixed"].script.name
        published = source.case.program.variants.get("buggy")
        known = published.script.read_text(encoding="utf-8") if published else None
        found = fitting(files[script], seed, known)
        if not found:
            session.progress.note(f"{source.case.id}: left out, no operator fits")
        for each in found[:1]:
            yield Candidate(_program(source, each, files, seed), each)
    except (RewriteError, UnicodeDecodeError, OSError) as error:
        session.progress.note(f"{source.case.id}: left out, {error}")


def _program(source: Target, found: Planted, files: dict[str, str], seed: int) -> Program:
    """The pair of the faulty and the clean program, rewritten, as a case of a bug named after the clean one."""
    own, operator = source.case.program.variants["fixed"], found.operator
    script = own.script.name
    kept = kept_for(source.case.program.parameters, None, operator.api)
    texts = rewrite({"buggy": found.text, "fixed": files[script]}, seed, kept)
    modules = {
        name: rewrite({"": text}, seed, kept, module=True)[""]
        for name, text in files.items()
        if name != script
    }
    scripts = {
        variant: {name: each.text.encode() for name, each in {**modules, script: text}.items()}
        for variant, text in texts.items()
    }
    line = None if found.line is None else texts["buggy"].lines.get(found.line)
    site = Site(file=script, api=operator.api, line=line)
    name = f"planted-{source.case.name if source.bug.id == CONTROL else source.bug.id}"
    variants = {
        each: Variant(each, own.script, own.environment, own.records, own.brought)
        for each in scripts
    }
    case = replace(
        source.case,
        bug=name,
        name=operator.name,
        title=operator.title,
        program=replace(source.case.program, variants=variants),
        oracle=Oracle((), source.case.oracle.volatile),
        truth=GroundTruth(site, operator.iteration),
        benign=False,
    )
    bug = replace(source.bug, id=name, title=operator.title, site=site, cases={case.name: case})
    return Program(
        Target(bug, case, ("buggy", "fixed")), source, dict.fromkeys(scripts, "fixed"), scripts
    )


def _judge(
    candidates: Sequence[Candidate], session: Session, inner: RewrittenSession, all_seeds: bool
) -> list[tuple[Candidate, Harm]]:
    """What the oracle says of each candidate; all of them are run first, as many at a time as there are slots."""
    seeds = {
        id(each): _seeds(seeds_of(each.target.case, session.options.seeds, all_seeds))
        for each in candidates
    }
    runs = [run.bare for each in candidates for run in inner.plan(each.target, seeds[id(each)])]
    plain = [
        run.bare
        for each in candidates
        for run in session.plan(each.program.source, seeds[id(each)][:1])
    ]
    records = {run.key: record for run, record in (*session.execute(plain), *inner.execute(runs))}
    judged = []
    for each in candidates:
        own = [records[run.bare.key] for run in inner.plan(each.target, seeds[id(each)])]
        first = [
            records[run.bare.key] for run in session.plan(each.program.source, seeds[id(each)][:1])
        ]
        judged.append((each, _harm(each, own, first, inner)))
    return judged


def _seeds(first: Sequence[int]) -> list[int]:
    return [*first, *range(max(first) + 1, max(first) + 1 + max(0, SEEDS - len(first)))]


def _harm(
    candidate: Candidate,
    records: Sequence[RunRecord],
    published: Sequence[RunRecord],
    inner: RewrittenSession,
) -> Harm:
    for record in (*published, *records):
        if not record.ok:
            return Harm(
                False, f"{record.variant} seed {record.seed}: {record.status}: {record.reason}"
            )
    case, operator = candidate.target.case, candidate.planted.operator
    clean = [record for record in records if record.variant == "fixed"]
    if drift(case, clean[:1], published) != 0:
        return Harm(False, "the clean program does not do the same when it is rewritten")
    by_variant = {
        name: {record.seed: record.metrics for record in records if record.variant == name}
        for name in ("fixed", "buggy")
    }
    found = harm(
        by_variant["fixed"], by_variant["buggy"], case.oracle.volatile, operator.judged_by_loss
    )
    if found.shown:
        return found
    runs = inner.plan(candidate.target, [clean[0].seed])
    moved = {run.variant: _moved(Subject(candidate.target.bug, run.bare), inner) for run in runs}
    by_parameters = moves(moved["fixed"], moved["buggy"])
    return (
        by_parameters if by_parameters.shown else Harm(False, f"{found.why}; {by_parameters.why}")
    )


def _moved(subject: Subject, session: Session) -> int | None:
    """How many tensors of parameters move in a run of a program; None where that was not seen."""
    run: Run = subject.run
    with session.store.working_directory() as scratch:
        directory = scratch / "program"
        subject.lay_out(directory)
        launcher = [str(KIT / "launcher"), "../out", "--monitor", str(MONITOR)]
        argv = [str(run.runtime.python_path), *launcher, SCRIPT, *ARGUMENTS]
        launch(
            argv,
            directory,
            run,
            timeout_s=run.timeout_s,
            reads=[KIT, MONITOR],
            room=directory.parent,
        )
        try:
            moved = untrusted.read_json(directory / "moves.json", 100, directory)
        except untrusted.UnsafeError:
            return None
    return moved if isinstance(moved, int) else None


def _described(candidate: Candidate, found: Harm) -> Judgement:
    case, site = candidate.target.case, candidate.target.bug.site
    return Judgement(
        case.bug.removeprefix("planted-"), case.name, case.title, site.line, found.shown, found.why
    )
