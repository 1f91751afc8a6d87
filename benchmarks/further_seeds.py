"""Does each case do what its oracle expects with five further seeds, which nobody chose?

    python benchmarks/further_seeds.py [CASE ...] [-j N] [--runs FOLDER]

A hash chose the five seeds before any run. For each case without data sets and GPU both twins run
with each of them, and the oracle judges each pair. It writes evaluation/repair/further_seeds.csv
after each case: the repair track leaves out cases that do not behave with all of them. Rows that
are there are kept while the two scripts of their case stay as they are: it may be stopped, and goes
on. All cases take hours; finished runs are kept in FOLDER. Environments that it builds are removed
after the last of their cases.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path

import msgspec.structs

from evaluation.repair import further_seeds
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.environments import builder, spec
from runner.errors import TrainbugsError
from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.session.session import Session

ROOT = Path(__file__).resolve().parent.parent


def studied(catalog: Catalog) -> list[Target]:
    """The cases that can be run here, ordered by environment."""
    targets = [
        msgspec.structs.replace(target, variants=("buggy", "fixed"))
        for target in catalog.select(catalog.active())
        if not target.case.program.data and "gpu" not in target.case.program.tools
    ]
    return sorted(targets, key=lambda target: (environment_of(target), target.case.id))


def environment_of(target: Target) -> str:
    """The environment of a case."""
    return target.case.program.variants["buggy"].environment


def missing(targets: Sequence[Target], table: Path) -> list[Target]:
    """The cases without rows of today's scripts."""
    known = {(row.case, row.scripts) for row in further_seeds.read_table(table)}
    return [
        target
        for target in targets
        if (target.case.id, further_seeds.scripts_digest(target.case)) not in known
    ]


def study(session: Session, target: Target, table: Path) -> list[further_seeds.Row]:
    """Run a case with all further seeds and put its rows into the table, in place of older ones."""
    runs = session.plan(target, further_seeds.seeds())
    with closing(session.execute(runs)) as ended:
        records = [record for _, record in ended]
    rows = further_seeds.judged(target, records)
    others = [row for row in further_seeds.read_table(table) if row.case != target.case.id]
    further_seeds.write_table(table, [*others, *rows])
    return rows


def by_environment(
    targets: Sequence[Target], do: Callable[[Target], None], root: Path = ROOT
) -> None:
    """Call `do` for each case; an environment that was built for it is removed after its cases.

    What another command builds meanwhile stays.
    """
    for _, group in groupby(targets, environment_of):
        there = set(_built(root))
        own: set[str] = set()
        for target in group:
            variants = target.case.program.variants.values()
            own.update(variant.environment for variant in variants)
            do(target)
        for name in sorted(own & set(_built(root)) - there):
            builder.remove(spec.load(root, name))


def _built(root: Path) -> list[str]:
    return [name for name in spec.names(root) if spec.find(spec.load(root, name))]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="BUG/CASE; default: all")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=Path("results"), help="default: ./results")
    parser.add_argument("--table", type=Path, default=further_seeds.TABLE)
    options = parser.parse_args()
    catalog = Catalog(ROOT)
    targets = studied(catalog)
    chosen = [item for item in targets if not options.cases or item.case.id in options.cases]
    session = Session(
        catalog, Options(jobs=options.jobs, results=options.runs, keep=False), on_stderr()
    )

    def do(target: Target) -> None:
        for row in study(session, target, options.table):
            print(f"{row.case}, seed {row.seed}: {row.behaves} {row.reason}".rstrip(), flush=True)

    try:
        by_environment(missing(chosen, options.table), do)
    except TrainbugsError as error:
        print(error, file=sys.stderr)
        return 2
    left = len(missing(targets, options.table))
    unsteady = further_seeds.unsteady(further_seeds.read_table(options.table))
    print("\n".join(f"{case}: {reason}" for case, reason in sorted(unsteady.items())))
    print(f"{len(targets) - left} of {len(targets)} cases studied, {len(unsteady)} unsteady")
    return 0


if __name__ == "__main__":
    sys.exit(main())
