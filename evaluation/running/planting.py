"""Programs with planted faults, shown to detectors beside the clean ones if the fault does harm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from evaluation.keys import KIT
from evaluation.model import ARGUMENTS, CONTROL, SCRIPT
from evaluation.planting import judgements
from evaluation.planting.harm import PlantedHarm, judge_metrics, judge_moves
from evaluation.planting.judgements import Judgement
from evaluation.planting.operators import FaultyProgram, plant_each
from evaluation.rewriting.layout import RewriteError, RewrittenText
from evaluation.rewriting.twins import names_to_keep, rewrite
from evaluation.running.perturbation import Texts, encode_texts, read_texts
from evaluation.running.program import ShownProgram, select_seeds
from evaluation.running.rewritten_session import RewrittenProgram, RewrittenSession
from runner.bugs.bug import Target
from runner.bugs.case import Case, GroundTruth, Oracle, Site
from runner.bugs.program import Variant
from runner.execution.launch import launch
from runner.execution.run import Run
from runner.files import untrusted
from runner.results.record import RunRecord
from runner.session.session import Session
from runner.verdicts.drift import drift

# The oracle compares a program with and without the fault on at least as many seeds.
SEEDS = 3
# It is not imported: whoever does that writes its file at the end.
MONITOR = Path(__file__).parents[1] / "planting" / "moves_monitor.py"
MAX_MOVES_BYTES = 100
# Bugs with planted faults are named after clean programs.
PREFIX = "planted-"


@dataclass(frozen=True)
class Candidate:
    """A program with a fault, before it is known whether that does harm."""

    program: RewrittenProgram
    planted: FaultyProgram

    @property
    def target(self) -> Target:
        return self.program.target

    @property
    def case(self) -> Case:
        return self.program.target.case

    @property
    def program_name(self) -> str:
        """The name of the clean program."""
        return clean_name(self.program.source)


@dataclass(frozen=True)
class CandidateRuns:
    """The runs on which a candidate is judged: of both rewritten variants,
    and of the clean program as published.
    """

    candidate: Candidate
    rewritten: Sequence[Run]
    published: Sequence[Run]


def plant_targets(
    session: Session, targets: Sequence[Target], seed: int, all_seeds: bool = False
) -> tuple[RewrittenSession, list[Target]]:
    """A session of planted programs, and the targets whose fault does harm; the others are named,
    and counted.

    One fault is put into each control and into the fixed program of each bug, by the seed; both
    twins are rewritten.
    """
    planted_session = RewrittenSession(session, f"plant-{seed}")
    candidates = _make_candidates(clean_targets(targets), seed, session)
    planted_session.add(candidate.program for candidate in candidates)
    judged = _judge(candidates, session, planted_session, all_seeds)
    harmful = [candidate.target for candidate, harm in judged if harm.shown]
    for candidate, harm in judged:
        if not harm.shown:
            session.progress.line(f"{candidate.case.id}: discarded, {harm.why}")
    session.progress.note(
        f"planted faults: {len(harmful)} do harm, {len(judged) - len(harmful)} are discarded"
    )
    store = planted_session.store
    judgements.write(
        store.root,
        [_describe(candidate, harm) for candidate, harm in judged],
        store.scratch.path,
    )
    return planted_session, harmful


def clean_targets(targets: Sequence[Target]) -> list[Target]:
    """The clean programs: controls, and the fixed one of each bug,
    of the first of its cases with that script.
    """
    by_script: dict[Path, Target] = {}
    for target in targets:
        script = target.case.program.variants["fixed"].script
        by_script.setdefault(script, Target(target.bug, target.case, ("fixed",)))
    return list(by_script.values())


def clean_name(source: Target) -> str:
    """The name of a clean program: that of its bug, or of a control."""
    return source.case.name if source.bug.id == CONTROL else source.bug.id


def make_candidate(source: Target, seed: int) -> Candidate:
    """One fault for a clean program; raises RewriteError where no operator fits."""
    variants = source.case.program.variants
    texts = read_texts(source, "fixed")
    script = variants["fixed"].script.name
    published = None
    if "buggy" in variants:
        try:
            published = variants["buggy"].script.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError) as error:
            raise RewriteError(str(error)) from error
    faulty = next(plant_each(texts[script], seed, published), None)
    if faulty is None:
        raise RewriteError("no operator fits")
    return Candidate(_rewrite_pair(source, faulty, texts, seed), faulty)


def _make_candidates(sources: Sequence[Target], seed: int, session: Session) -> list[Candidate]:
    """The candidates of clean programs; a line says which programs are left out, and why."""
    candidates: list[Candidate] = []
    for source in sources:
        try:
            candidates.append(make_candidate(source, seed))
        except RewriteError as error:
            session.progress.note(f"{source.case.id}: left out, {error}")
    return candidates


def _rewrite_pair(
    source: Target, faulty: FaultyProgram, texts: Texts, seed: int
) -> RewrittenProgram:
    """The pair of the faulty and the clean program, rewritten,
    as a case of a bug named after the clean one.
    """
    script = source.case.program.variants["fixed"].script.name
    kept_names = names_to_keep(source.case.program.parameters, None, faulty.operator.api)
    pair = rewrite({"buggy": faulty.text, "fixed": texts[script]}, seed, kept_names)
    modules = {
        name: rewrite({"": text}, seed, kept_names, module=True)[""]
        for name, text in texts.items()
        if name != script
    }
    scripts = {
        variant: encode_texts({**modules, script: new_text}) for variant, new_text in pair.items()
    }
    target = _planted_target(source, faulty, pair["buggy"])
    return RewrittenProgram(target, source, dict.fromkeys(scripts, "fixed"), scripts)


def _planted_target(source: Target, faulty: FaultyProgram, buggy: RewrittenText) -> Target:
    """The case that detectors meet: the operator's, of a bug named after the clean program."""
    clean, operator = source.case.program.variants["fixed"], faulty.operator
    line = None if faulty.line is None else buggy.lines.get(faulty.line)
    site = Site(file=clean.script.name, api=operator.api, line=line)
    bug_id = f"{PREFIX}{clean_name(source)}"
    variants = {
        name: Variant(name, clean.script, clean.environment, clean.records, clean.brought)
        for name in ("buggy", "fixed")
    }
    case = replace(
        source.case,
        bug=bug_id,
        name=operator.name,
        title=operator.title,
        program=replace(source.case.program, variants=variants),
        oracle=Oracle((), source.case.oracle.volatile),
        truth=GroundTruth(site, operator.iteration),
        benign=False,
    )
    bug = replace(source.bug, id=bug_id, title=operator.title, site=site, cases={case.name: case})
    return Target(bug, case, ("buggy", "fixed"))


def _judge(
    candidates: Sequence[Candidate],
    session: Session,
    planted_session: RewrittenSession,
    all_seeds: bool,
) -> list[tuple[Candidate, PlantedHarm]]:
    """What the oracle says of each candidate; all of them are run first,
    as many at a time as there are slots.
    """
    planned = []
    for candidate in candidates:
        shown_seeds = select_seeds(candidate.case, session.options.seeds, all_seeds)
        seeds = _enough_seeds(shown_seeds)
        rewritten = planted_session.plan(candidate.target, seeds)
        published = session.plan(candidate.program.source, seeds[:1])
        planned.append(
            CandidateRuns(
                candidate,
                [run.bare for run in rewritten],
                [run.bare for run in published],
            )
        )
    published_runs = [run for runs in planned for run in runs.published]
    rewritten_runs = [run for runs in planned for run in runs.rewritten]
    records = {run.key: record for run, record in session.execute(published_runs)}
    records |= {run.key: record for run, record in planted_session.execute(rewritten_runs)}
    return [(runs.candidate, _judge_candidate(runs, records, planted_session)) for runs in planned]


def _enough_seeds(seeds: Sequence[int]) -> list[int]:
    """The seeds, and as many larger ones as make SEEDS of them."""
    following = max(seeds) + 1
    missing = max(0, SEEDS - len(seeds))
    return [*seeds, *range(following, following + missing)]


def _judge_candidate(
    runs: CandidateRuns, records_by_key: Mapping[str, RunRecord], planted_session: RewrittenSession
) -> PlantedHarm:
    candidate, case = runs.candidate, runs.candidate.case
    records = [records_by_key[run.key] for run in runs.rewritten]
    published = [records_by_key[run.key] for run in runs.published]
    for record in (*published, *records):
        if not record.ok:
            reason = f"{record.variant} seed {record.seed}: {record.status}: {record.reason}"
            return PlantedHarm(False, reason)
    clean = [record for record in records if record.variant == "fixed"]
    faulty = [record for record in records if record.variant == "buggy"]
    if drift(case, clean[:1], published) != 0:
        return PlantedHarm(False, "the clean program does not do the same when it is rewritten")
    by_metrics = judge_metrics(
        {record.seed: record.metrics for record in clean},
        {record.seed: record.metrics for record in faulty},
        case.oracle.volatile,
        candidate.planted.operator.judged_by_loss,
    )
    if by_metrics.shown:
        return by_metrics
    by_moves = _judge_by_moves(candidate, clean[0].seed, planted_session)
    return by_moves if by_moves.shown else PlantedHarm(False, f"{by_metrics.why}; {by_moves.why}")


def _judge_by_moves(
    candidate: Candidate, seed: int, planted_session: RewrittenSession
) -> PlantedHarm:
    """Whether fewer parameters move with the fault than without, by the seed."""
    moves = {}
    for run in planted_session.plan(candidate.target, [seed]):
        program = ShownProgram(candidate.target.bug, run.bare)
        moves[run.variant] = _count_moves(program, planted_session)
    return judge_moves(moves["fixed"], moves["buggy"])


def _count_moves(program: ShownProgram, session: Session) -> int | None:
    """How many tensors of parameters move in a run of a program; None where that was not seen."""
    run = program.run
    with session.store.working_directory() as scratch:
        directory = scratch / "program"
        program.lay_out(directory)
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
            moves = untrusted.read_json(directory / "moves.json", MAX_MOVES_BYTES, directory)
        except untrusted.UnsafeError:
            return None
    return moves if isinstance(moves, int) else None


def _describe(candidate: Candidate, harm: PlantedHarm) -> Judgement:
    case, site = candidate.case, candidate.target.bug.site
    return Judgement(candidate.program_name, case.name, case.title, site.line, harm.shown, harm.why)
