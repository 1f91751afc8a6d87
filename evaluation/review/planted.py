"""The tasks of the review track with planted faults: nobody can have read of these bugs."""

from pathlib import Path

from evaluation.catalog.controls import Controls
from evaluation.catalog.declared import declared_programs
from evaluation.planting import judgements
from evaluation.reading.load import folder_with
from evaluation.records import rewritten_as
from evaluation.review.tasks import ReviewedProgram, rewritten_programs
from evaluation.rewriting.layout import RewriteError
from evaluation.running.planting import Candidate, clean_name, clean_targets, make_candidate
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.bugs.config import REWRITTEN
from runner.errors import UsageError

Fault = tuple[str, str, int | None]


def collect_planted(
    catalog: Catalog, controls: Controls, seed: int, results: Path
) -> tuple[list[ReviewedProgram], list[str]]:
    """Pairs of programs with and without a planted fault, both rewritten; and a line for each
    fault that is left out, and for all programs that nobody has judged.

    A fault counts if `trainbugs evaluate --plant SEED` has seen it do harm: in the results folder,
    or in what is committed. Nothing is run here. Raises UsageError for a seed without judgements.
    """
    harm = _harm(catalog.root, results, seed)
    judged_programs = {program for program, _, _ in harm}
    sources = clean_targets(_targets(catalog, controls))
    judged = [source for source in sources if clean_name(source) in judged_programs]
    programs: list[ReviewedProgram] = []
    left_out: list[str] = []
    for source in judged:
        try:
            candidate = make_candidate(source, seed)
            _check(candidate, harm)
            programs += rewritten_programs(candidate.program, catalog.root)
        except RewriteError as error:
            left_out.append(f"{source.case.id}: left out, {error}")
    if len(judged) < len(sources):
        left_out.append(
            f"{len(sources) - len(judged)} further programs: not judged, {_judge(seed)}"
        )
    return programs, left_out


def _targets(catalog: Catalog, controls: Controls) -> list[Target]:
    """The programs of the cases that count, and the controls."""
    uncounted = declared_programs(catalog).uncounted
    targets = catalog.select(catalog.active())
    counted = [target for target in targets if target.case.id not in uncounted]
    return [*counted, *controls.targets()]


def _harm(root: Path, results: Path, seed: int) -> dict[Fault, bool]:
    """Whether the faults of a seed do harm, by program, operator and line."""
    folder = Path(REWRITTEN, rewritten_as(None, seed))
    judged = [
        *judgements.read(folder_with(root, REWRITTEN) / folder),
        *judgements.read(results / folder),
    ]
    if not judged:
        raise UsageError(
            f"--plant {seed}: nobody has judged which of its faults do harm; {_judge(seed)}"
        )
    return {(item.program, item.operator, item.line): item.harm for item in judged}


def _judge(seed: int) -> str:
    return f"`trainbugs evaluate --detector loss-rules --plant {seed}` judges them"


def _check(candidate: Candidate, harm: dict[Fault, bool]) -> None:
    """Raise RewriteError for a fault that does no harm, or was not judged."""
    line = candidate.target.bug.site.line
    does_harm = harm.get((candidate.program_name, candidate.case.name, line))
    if does_harm is None:
        raise RewriteError("its planted fault is another one than that which was judged")
    if not does_harm:
        raise RewriteError("its planted fault does no harm")
