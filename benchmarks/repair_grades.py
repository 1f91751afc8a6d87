"""Grades of patches whose worth is known, for each case: is the grader right about them?

    python benchmarks/repair_grades.py [CASE ...] [--templates] [--vary] [-j N] [--runs FOLDER]

For each case of the repair track it grades the unchanged program (`noop`), which has to be NOT
FIXED, and the fixed twin, which has to be FIXED; with `--templates` also what the template repairer
makes of it, by the sanitizer's records that the options of template_repairer.py name, and with
`--vary` what becomes of that with other parameters: a program with the fixed twin's numbers has
`tried` changes of them, and `varied` with which it has them, too. It writes
benchmarks/repairs.csv after each case, and the scores in benchmarks/repairs.json. Rows that are
there are kept while the two scripts of their case stay as they are: it may be stopped, and goes on.
All cases take hours, as each runs on its own seeds and on two that are drawn; finished runs are
kept in FOLDER. Cases are in the order of their environments, and an environment that was built is
removed after the last of its cases.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import msgspec
import sanitizer_answers
from further_seeds import by_environment, environment_of
from template_repairer import MODEL as TEMPLATES
from template_repairer import patches as template_patches

from evaluation.model import SCRIPT
from evaluation.repair.further_seeds import scripts_digest
from evaluation.repair.grading import Grade, Outcome, Varied, grade
from evaluation.repair.patches import Patch
from evaluation.repair.scoring import AT_SITE, ROW, RepairScore, score_repairs
from evaluation.repair.tasks import repairable
from evaluation.repair.varying import vary
from evaluation.running.perturbation import read_texts
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.environments import spec
from runner.errors import TrainbugsError
from runner.files.atomic import write_text
from runner.files.row_tables import read_rows, write_rows
from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.session.session import Session

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("repairs.csv")
SCORES = ".json"
NOOP, FIXED_TWIN = "noop", "fixed twin"
EXPECTED = {NOOP: "NOT FIXED", FIXED_TWIN: "FIXED"}
IS_AT_SITE = {text: value for value, text in AT_SITE.items()}
# Patches name a task; here there is one at a time.
TASK = "0" * 16


class Row(NamedTuple):
    """A grade; `scripts` is the digest of the two scripts of the case."""

    case: str
    patch: str
    outcome: str
    seeds: str
    held: str
    same: str
    tried: str
    varied: str
    changed: str
    real: str
    at_site: str
    scripts: str
    reason: str

    def as_grade(self) -> Grade:
        """The grade that the row was made of, as far as scores ask for it."""
        return Grade(
            TASK,
            self.patch,
            self.case,
            cast(Outcome, self.outcome),
            self.reason,
            seeds=tuple(range(int(self.seeds))),
            held=tuple(range(int(self.held))),
            same=tuple(range(int(self.same))),
            varied=self._varied(),
            changed=int(self.changed),
            real=int(self.real),
            at_site=IS_AT_SITE[self.at_site],
        )

    def _varied(self) -> Varied | None:
        tried = tuple(map(str, range(int(self.tried))))
        return Varied(tried, tried[: int(self.varied)]) if tried else None


def scores(rows: Iterable[Row], catalog: Catalog) -> list[RepairScore]:
    """The scores of all kinds of patches, over the cases that are in the table."""
    grades = [row.as_grade() for row in rows]
    names = {item.case for item in grades}
    families = {target.case.id: target.bug.family for target in catalog.select(sorted(names))}
    return score_repairs(grades, families)


def grade_cases(
    session: Session,
    targets: Sequence[Target],
    table: Path,
    options: argparse.Namespace,
) -> list[Row]:
    """The rows of these cases, which are added to the table; those of others stay."""
    rows = {(row.case, row.patch): row for row in read_table(table)}
    for target in targets:
        digest = scripts_digest(target.case)
        missing = [
            patch
            for patch in patches_for(target, options)
            if _is_missing(rows.get((target.case.id, patch.model)), digest, options)
        ]
        grades = grade(session, missing, {TASK: target})
        if options.vary:
            # The twin has its own numbers with any parameter.
            grades = vary(session, missing, {TASK: target}, grades, models=(TEMPLATES,))
        for item in grades:
            rows[target.case.id, item.model] = _row(item, digest)
        write_table(table, rows.values())
    names = {target.case.id for target in targets}
    return [row for row in rows.values() if row.case in names]


def write_scores(table: Path, catalog: Catalog) -> list[RepairScore]:
    """Write the scores of a table beside it; returns them. Raises OSError."""
    found = scores(read_table(table), catalog)
    document = {
        "schema": 1,
        "catalogue": CATALOGUE_VERSION,
        "cases": len(repairable(catalog)[0]),
        "scores": msgspec.to_builtins(found),
    }
    write_text(table.with_suffix(SCORES), json.dumps(document, indent=1) + "\n")
    return found


def chosen(catalog: Catalog, cases: Sequence[str]) -> list[Target]:
    """The cases of the repair track with these names, or all, ordered by environment."""
    targets = [target for target in repairable(catalog)[0] if not cases or target.case.id in cases]
    return sorted(targets, key=lambda target: (environment_of(target), target.case.id))


def patches_for(target: Target, options: argparse.Namespace) -> list[Patch]:
    """The patches of a case."""
    scripts = {
        model: target.case.program.variants[variant].script.read_text(encoding="utf-8")
        for model, variant in ((NOOP, "buggy"), (FIXED_TWIN, "fixed"))
    }
    patches = [Patch(TASK, model=model, script=text) for model, text in scripts.items()]
    if options.templates:
        patches += _template_patches(target, options)
    return patches


def _template_patches(target: Target, options: argparse.Namespace) -> Iterator[Patch]:
    program = target.case.program
    own_name = program.variants["buggy"].script.name
    texts = read_texts(target, "buggy")
    files = {SCRIPT if name == own_name else name: text for name, text in texts.items()}
    parameters = {**program.parameters, "seed": program.seeds[0], "device": "cpu"}
    packages = spec.load(ROOT, program.variants["buggy"].place).pins
    task = {"id": TASK, "files": files, "parameters": parameters, "packages": packages}
    for item in template_patches([task], sanitizer_answers.alarms_of([task], options)):
        yield Patch(TASK, model=TEMPLATES, script=item["script"])


def surprises(rows: Sequence[Row]) -> list[str]:
    """A line for each patch whose grade is not what it has to be."""
    return [
        f"{row.case}: {row.patch} is {row.outcome}, expected {EXPECTED[row.patch]}: {row.reason}"
        for row in rows
        if row.outcome != EXPECTED.get(row.patch, row.outcome)
    ]


def read_table(path: Path) -> list[Row]:
    """The rows of a table; none where there is no file."""
    return read_rows(path, Row)


def write_table(path: Path, rows: "Iterator[Row] | Sequence[Row]") -> None:
    """Write the rows, sorted by case and patch; raises OSError."""
    write_rows(path, Row._fields, sorted(rows))


def _is_missing(row: Row | None, digest: str, options: argparse.Namespace) -> bool:
    """Whether a row lacks, is of other scripts, or lacks other parameters that are asked for."""
    if row is None or row.scripts != digest:
        return True
    is_varied = row.patch != TEMPLATES or row.tried != "0"
    return bool(options.vary and row.as_grade().is_same and not is_varied)


def _row(item: Grade, digest: str) -> Row:
    return Row(
        case=item.case,
        patch=item.model,
        outcome=item.outcome,
        seeds=str(len(item.seeds)),
        held=str(len(item.held)),
        same=str(len(item.same)),
        tried=str(len(item.varied.tried) if item.varied else 0),
        varied=str(len(item.varied.same) if item.varied else 0),
        changed=str(item.changed),
        real=str(item.real),
        at_site=AT_SITE[item.at_site],
        scripts=digest,
        # Seeds that are drawn are others each time; no reason is given for what is as it has to be.
        reason="" if item.outcome == EXPECTED.get(item.model) else " ".join(item.reason.split()),
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="BUG/CASE; default: all")
    parser.add_argument("--templates", action="store_true", help="grade the template repairer, too")
    parser.add_argument("--vary", action="store_true", help="run it with other parameters, too")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=Path("results"), help="default: ./results")
    parser.add_argument("--table", type=Path, default=TABLE, help="default: repairs.csv")
    sanitizer_answers.add_sources(parser)
    options = parser.parse_args()
    catalog = Catalog(ROOT)
    targets = chosen(catalog, options.cases)
    session = Session(catalog, Options(jobs=options.jobs, results=options.runs), on_stderr())
    rows: list[Row] = []

    def grade_case(target: Target) -> None:
        graded = grade_cases(session, [target], options.table, options)
        for row in graded:
            print(f"{row.case}: {row.patch} is {row.outcome}", flush=True)
        rows.extend(graded)
        write_scores(options.table, catalog)

    try:
        by_environment(targets, grade_case)
    except TrainbugsError as error:
        print(error, file=sys.stderr)
        return 2
    for score in write_scores(options.table, catalog):
        print("  ".join(f"{name} {column(score)}" for name, column in ROW.items()))
    lines = surprises(rows)
    print("\n".join([*lines, f"{len(rows)} grades, {len(lines)} of them wrong"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
