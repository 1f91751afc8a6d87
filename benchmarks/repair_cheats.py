"""Grades of cheats: patches that are to look like repairs, and are none. How many pass?

    python benchmarks/repair_cheats.py [CHEAT ...] [-j N] [--runs FOLDER]

Three red teams wrote benchmarks/cheats.jsonl on 29 November 2026, each for twelve tasks of the
repair track: 01 to 20 aim at the grade FIXED, 21 to 36 at the numbers of the fixed twin, too, 37 to
52 also at these numbers with other parameters (VARIED). Each had read its tasks and
docs/repairs.md, and no code of the grader. The rules of the grader were committed before each
attack, and VARIED after the second of these three. This grades the cheats that are named, or all,
with other parameters where they have the numbers of the fixed twin. It writes
benchmarks/cheats.csv after each, where the rows of the others stay, and the numbers of each attack
in benchmarks/cheats.json. Finished runs are kept in FOLDER.
"""

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from evaluation.repair.grading import Grade, Varied, grade
from evaluation.repair.patches import Patch
from evaluation.repair.scoring import AT_SITE
from evaluation.repair.tasks import repairable
from evaluation.repair.varying import vary
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.errors import TrainbugsError
from runner.files.atomic import replacing, write_text
from runner.files.structs import as_struct
from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.session.session import Session

ROOT = Path(__file__).resolve().parent.parent
CHEATS = Path(__file__).with_name("cheats.jsonl")
TABLE = Path(__file__).with_name("cheats.csv")
COLUMNS = (
    "cheat",
    "case",
    "outcome",
    "seeds",
    "held",
    "same",
    "tried",
    "varied",
    "at_site",
    "reason",
    "difference",
)
# The first and the last cheat of each attack whose texts are kept.
ATTACKS = (("01", "20"), ("21", "36"), ("37", "52"))
NOT_VARIED = Varied((), ())


class Cheat(Struct, frozen=True):
    """A cheat: its number, the case that it pretends to mend, its idea, and the whole program."""

    cheat: str
    case: str
    idea: str
    script: str


def read_cheats(path: Path = CHEATS) -> list[Cheat]:
    """The cheats of a file, a line each."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [as_struct(json.loads(line), Cheat) for line in lines]


def grade_cheats(
    session: Session, cheats: Iterable[Cheat], targets: Iterable[Target]
) -> Iterator[Grade]:
    """The grade of each cheat; the order is the graders'."""
    by_case = {target.case.id: target for target in targets}
    patches: list[Patch] = []
    tasks: dict[str, Target] = {}
    for number, cheat in enumerate(cheats, 1):
        # Patches name a task; here each has one of its own.
        task = f"{number:016x}"
        tasks[task] = by_case[cheat.case]
        patches.append(Patch(task, script=cheat.script, model=cheat.cheat))
    return vary(session, patches, tasks, grade(session, patches, tasks))


def write_table(path: Path, grades: Iterable[Grade]) -> None:
    """Write a row for each cheat, by their names; rows of other cheats in the file stay."""
    rows = {row[0]: row for row in _read_rows(path)}
    for item in grades:
        seeds = map(len, (item.seeds, item.held, item.same))
        varied = item.varied or NOT_VARIED
        rows[item.model] = (
            item.model,
            item.case,
            item.outcome,
            *map(str, seeds),
            str(len(varied.tried)),
            str(len(varied.same)),
            AT_SITE[item.at_site],
            " ".join(item.reason.split()),
            " ".join(varied.difference.split()),
        )
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows[name] for name in sorted(rows))
    write_counts(path)


def write_counts(path: Path) -> None:
    """Write beside a table, as JSON, how many cheats of each attack got which grade."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    attacks: list[dict[str, object]] = []
    for first, last in ATTACKS:
        of_attack = [row for row in rows if first <= row["cheat"] <= last]
        same = [row for row in of_attack if _is_same(row)]
        attacks.append(
            {
                "cheats": len(of_attack),
                "outcomes": Counter(row["outcome"] for row in of_attack),
                "same": len(same),
                "not_tried": sum(row["tried"] == "0" for row in same),
                "varied": sum(
                    row["tried"] not in ("0", "") and row["varied"] == row["tried"] for row in same
                ),
            }
        )
    document = {"schema": 1, "catalogue": CATALOGUE_VERSION, "attacks": attacks}
    write_text(path.with_suffix(".json"), json.dumps(document, indent=1) + "\n")


def _is_same(row: Mapping[str, str]) -> bool:
    return row["outcome"] == "FIXED" and row["same"] == row["seeds"]


def _read_rows(path: Path) -> list[tuple[str, ...]]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return [tuple(row) for row in rows]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cheats", nargs="*", metavar="CHEAT", help="such as 21; default: all")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=Path("results"), help="default: ./results")
    parser.add_argument("--table", type=Path, default=TABLE, help="default: cheats.csv")
    options = parser.parse_args()
    catalog = Catalog(ROOT)
    cheats = [
        cheat for cheat in read_cheats() if not options.cheats or cheat.cheat in options.cheats
    ]
    session = Session(catalog, Options(jobs=options.jobs, results=options.runs), on_stderr())
    grades: list[Grade] = []
    try:
        for item in grade_cheats(session, cheats, repairable(catalog)[0]):
            grades.append(item)
            write_table(options.table, [item])
    except TrainbugsError as error:
        print(error, file=sys.stderr)
        return 2
    fixed = sum(item.outcome == "FIXED" for item in grades)
    print(f"{fixed} of {len(grades)} cheats are FIXED")
    same = [item for item in grades if item.is_same]
    varied = sum(item.varied is not None and item.varied.is_same for item in same)
    print(f"{len(same)} have the numbers of the fixed twin, {varied} with other parameters, too")
    return 0


if __name__ == "__main__":
    sys.exit(main())
