"""Do the alarms that find a bug lead to its fault? Two readers judge a sample of them, blind.

    python benchmarks/site_judgements.py draw detectors/site-judgements.csv --count 60 --seed 0
    python benchmarks/site_judgements.py sheet detectors/site-judgements.csv SHEET.md
    python benchmarks/site_judgements.py compare detectors/site-judgements.csv

`draw` takes alarms that decide a PAIRED case and name a place (a line or an API), of rows by their
authors' setting, without negative controls. `sheet` writes for a reader what a user would see: the
alarm, and the program with numbered lines. It says neither where the fault is nor what SITE says.
A reader looks the fault up in the bug's README, and writes `site`, `near` or `elsewhere` into a
column of the table. `compare` counts how often the readers agree with each other and with SITE.
"""

import argparse
import csv
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from evaluation.catalog.declared import declared_programs
from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.model import Alarm
from evaluation.reading.load import earlier_folder
from evaluation.reading.subsets import select_counted, select_current
from evaluation.records import CheckRecord
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.outcomes import PROGRAM, ROW, diagnosis, with_twins
from evaluation.scoring.tables import ScoreTables
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog

ROOT = Path(__file__).resolve().parents[1]
READERS = ("reader_1", "reader_2")
# What a reader may write, and what SITE calls the same.
ANSWERS = {"site": "exact", "near": "near", "elsewhere": "no"}


@dataclass(frozen=True)
class Judged:
    """An alarm, and what each reader says of the place that it names; empty: not yet."""

    detector: str
    references: str
    rule: str
    bug: str
    case: str
    seed: int
    code: str
    message: str
    file: str
    line: str
    api: str
    reader_1: str = ""
    reader_2: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies the alarm."""
        return (self.detector, self.references, self.rule, self.bug, self.case, str(self.seed))


def deciding_alarms() -> Iterator[tuple[Judged, str]]:
    """Each alarm that decides a PAIRED case and names a place, with what SITE says of it. The study
    was made with the records of an earlier kit.
    """
    catalog = Catalog(ROOT)
    earlier = CommittedChecks(earlier_folder(ROOT)).read()
    records = select_current(select_counted(earlier, declared_programs(catalog)), catalog)
    tables = ScoreTables(records, catalog)
    by_program = {_key(record): record for record in records.checks if record.kind == "buggy"}
    rows = without_rejected(tables.scores)[ROW].drop_duplicates()
    buggy = with_twins(tables.outcomes)
    is_hit = buggy.paired & ~buggy.benign & ~buggy.detector.isin(NEGATIVE_CONTROLS)
    for _, hit in buggy[is_hit].merge(rows, on=ROW).iterrows():
        record = by_program[tuple(str(hit[name]) for name in ("detector", "references", *PROGRAM))]
        rule = records.rules[hit.detector][hit["rule"]]
        alarm = rule.deciding(rule.counted(record.alarms))
        if alarm and (alarm.line is not None or alarm.api):
            yield _judged(record, hit["rule"], alarm), diagnosis(alarm, record.site)


def _key(record: CheckRecord) -> tuple[str, ...]:
    return (record.detector, record.references, record.bug, record.case, str(record.seed))


def _judged(record: CheckRecord, rule: str, alarm: Alarm) -> Judged:
    return Judged(
        detector=record.detector,
        references=record.references,
        rule=rule,
        bug=record.bug,
        case=record.case,
        seed=record.seed,
        code=alarm.code,
        message=alarm.message,
        file=alarm.file or "",
        line=str(alarm.line or ""),
        api=alarm.api or "",
    )


def draw(table: Path, count: int, seed: int) -> None:
    """Write a sample of alarms that nobody has judged."""
    found = sorted((judged for judged, _ in deciding_alarms()), key=lambda judged: judged.key)
    drawn = random.Random(seed).sample(found, min(count, len(found)))
    write(table, drawn)
    print(f"{len(drawn)} of {len(found)} alarms: {table}")


def read(table: Path) -> list[Judged]:
    """The alarms of a table; exits with a line for an answer that is none."""
    with table.open(newline="") as file:
        judged = [Judged(**{**row, "seed": int(row["seed"])}) for row in csv.DictReader(file)]
    for number, item in enumerate(judged, 1):
        for reader in READERS:
            answer = getattr(item, reader)
            if answer and answer not in ANSWERS:
                expected = ", ".join(ANSWERS)
                sys.exit(f"{table}: row {number}, {reader}: {answer!r}, expected {expected}")
    return judged


def write(table: Path, judged: Sequence[Judged]) -> None:
    """Write the table."""
    with table.open("w", newline="") as file:
        names = [field.name for field in fields(Judged)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(item) for item in judged)


def write_sheet(judged: Sequence[Judged], sheet: Path) -> None:
    """Write for a reader each alarm with its program."""
    catalog = Catalog(ROOT)
    parts = []
    for number, item in enumerate(judged, 1):
        case = catalog.bug(item.bug).cases[item.case]
        script = case.program.variants["buggy"].script
        place = ":".join(part for part in (item.file, item.line) if part) or "no line"
        parts.append(
            f"## {number}. {item.bug}/{item.case}\n\n"
            f"The alarm: {item.message}\n\nIt names {place}; API: {item.api or 'none'}.\n\n"
            f"The program, {script.relative_to(ROOT)}:\n\n```\n{_numbered(script)}\n```\n"
        )
    sheet.write_text("\n".join(parts))


def _numbered(script: Path) -> str:
    lines = script.read_text().splitlines()
    return "\n".join(f"{number:4}  {line}" for number, line in enumerate(lines, 1))


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's kappa of pairs of answers; 1 where both always say the same one thing."""
    agreed = sum(first == second for first, second in pairs) / len(pairs)
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    by_chance = sum(firsts[answer] * seconds[answer] for answer in firsts) / len(pairs) ** 2
    return 1.0 if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)


def compare(judged: Sequence[Judged]) -> str:
    """How often readers agree with each other and with SITE, as a table of Markdown."""
    machine = {item.key: site for item, site in deciding_alarms()}
    known = [item for item in judged if item.reader_1 and item.reader_2 and item.key in machine]
    if not known:
        sys.exit("no alarm has two answers: fill the columns reader_1 and reader_2")
    answers: dict[str, list[str]] = {}
    for reader in READERS:
        answers[reader] = [ANSWERS[getattr(item, reader)] for item in known]
    answers["SITE"] = [machine[item.key] for item in known]
    lines = [f"{len(known)} alarms", "", "| | exact | near | no |", "|---|---|---|---|"]
    for name, given in answers.items():
        counts = Counter(given)
        lines.append(f"| {name} | {counts['exact']} | {counts['near']} | {counts['no']} |")
    lines += ["", "| | agree | Cohen's kappa |", "|---|---|---|"]
    for first, second in (READERS, (READERS[0], "SITE"), (READERS[1], "SITE")):
        pairs = list(zip(answers[first], answers[second], strict=True))
        agreed = sum(one == other for one, other in pairs)
        lines.append(f"| {first}, {second} | {agreed}/{len(pairs)} | {kappa(pairs):.2f} |")
    return "\n".join(lines)


def arguments(text: str, count: int) -> argparse.Namespace:
    """What the command line of a blind study asks for; `count` is the usual size of its sample."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("table", type=Path)
    drawing.add_argument("--count", type=int, default=count)
    drawing.add_argument("--seed", type=int, default=0)
    writing = commands.add_parser("sheet")
    writing.add_argument("table", type=Path)
    writing.add_argument("sheet", type=Path)
    comparing = commands.add_parser("compare")
    comparing.add_argument("table", type=Path)
    return parser.parse_args()


def main() -> None:
    options = arguments(__doc__ or "", count=60)
    if options.command == "draw":
        draw(options.table, options.count, options.seed)
    elif options.command == "sheet":
        write_sheet(read(options.table), options.sheet)
    else:
        print(compare(read(options.table)))


if __name__ == "__main__":
    main()
