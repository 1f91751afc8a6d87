"""A session that runs programs as they were rewritten, in the place of those of the catalogue."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.running.program import select_seeds
from runner.bugs.bug import Target
from runner.bugs.config import REWRITTEN
from runner.execution.run import Run
from runner.results.record import RunRecord
from runner.session.session import Session


@dataclass(frozen=True)
class RewrittenProgram:
    """A case as it is rewritten: `target` is shown to detectors, `source` is what it is made of.

    `variants` names the variant of the source for each of the target's; `scripts` are the files, by
    the target's variant, that are put in the place of the source's.
    """

    target: Target
    source: Target
    variants: Mapping[str, str]
    scripts: Mapping[str, Mapping[str, bytes]]


class RewrittenSession(Session):
    """Runs rewritten programs, and all others as they are. Its results are in a folder of their
    own.
    """

    def __init__(self, session: Session, name: str) -> None:
        options = replace(session.options, results=session.store.root / REWRITTEN / name)
        super().__init__(session.catalog, options, session.progress)
        # Interpreters are probed once.
        self.runtimes = session.runtimes
        self.label = name
        self.programs: dict[str, RewrittenProgram] = {}

    def add(self, programs: Iterable[RewrittenProgram]) -> None:
        """Run these in the place of what the cases' names stand for."""
        self.programs |= {program.target.case.id: program for program in programs}

    def plan(self, target: Target, seeds: Sequence[int] | None = None) -> list[Run]:
        """The runs of a target, rewritten where it is one of the programs."""
        program = self.programs.get(target.case.id)
        if program is None:
            return super().plan(target, seeds)
        runs = []
        for variant in target.variants:
            source_variant = program.variants[variant]
            source = Target(program.source.bug, program.source.case, (source_variant,))
            for run in super().plan(source, seeds):
                runs.append(self._rewrite_run(run, variant, program))
        return runs

    def _rewrite_run(self, run: Run, variant: str, program: RewrittenProgram) -> Run:
        scripts = {**run.scripts, **program.scripts[variant]}
        return replace(
            run, case=program.target.case, variant=variant, scripts=scripts, label=self.label
        )


def run_targets(
    session: Session, targets: Sequence[Target], all_seeds: bool
) -> dict[str, list[RunRecord]]:
    """The records of the runs of targets, by the ID of the case;
    finished runs are not done again.
    """
    runs: list[Run] = []
    for target in targets:
        seeds = select_seeds(target.case, session.options.seeds, all_seeds)
        runs += session.plan(target, seeds)
    records: dict[str, list[RunRecord]] = {target.case.id: [] for target in targets}
    for run, record in session.execute(runs):
        records[run.case.id].append(record)
    return records
