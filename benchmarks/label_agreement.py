"""Would other readers choose the same labels? Two readers label a sample of bugs, blind.

    python benchmarks/label_agreement.py draw benchmarks/labels.csv --count 40 --seed 0
    python benchmarks/label_agreement.py sheet benchmarks/labels.csv SHEET.md
    python benchmarks/label_agreement.py compare benchmarks/labels.csv

`draw` takes bugs that count. `sheet` writes for a reader the definitions of docs/taxonomy.md, and
the README of each bug without its declared facts. It holds no label. A reader writes one entry of
each list into a column of the table. `compare` counts how often the readers agree with each other
and with the labels of the catalogue.
"""

import csv
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from benchmarks.site_judgements import arguments, kappa
from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import counted_bugs
from runner.bugs.taxonomy import LISTS

ROOT = Path(__file__).resolve().parents[1]
READERS = ("reader_1", "reader_2")
CATALOGUE = "catalogue"
RULE = "If several entries of a list hold, choose the one that says most about the fault.\n"
# The paragraph of a README that the loader holds to config.json.
FACTS = re.compile(r"^Facts: .*?\n\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Label:
    """What each reader says of a bug, by one of the closed lists; empty: not yet."""

    bug: str
    list: str
    reader_1: str = ""
    reader_2: str = ""


def draw(table: Path, count: int, seed: int) -> None:
    """Write the labels of a sample of bugs, which nobody has chosen yet."""
    names = sorted(bug.id for bug in counted_bugs(Catalog(ROOT)))
    drawn = sorted(random.Random(seed).sample(names, min(count, len(names))))
    write(table, [Label(name, kind) for name in drawn for kind in LISTS])
    print(f"{len(drawn)} of {len(names)} bugs: {table}")


def read(table: Path) -> list[Label]:
    """The labels of a table; exits with a line for an entry that its list does not have."""
    with table.open(newline="") as file:
        labels = [Label(**row) for row in csv.DictReader(file)]
    for number, label in enumerate(labels, 1):
        for reader in READERS:
            entry = getattr(label, reader)
            if entry and entry not in LISTS[label.list]:
                expected = ", ".join(LISTS[label.list])
                sys.exit(f"{table}: row {number}, {reader}: {entry!r}, expected {expected}")
    return labels


def write(table: Path, labels: Sequence[Label]) -> None:
    """Write the table."""
    with table.open("w", newline="") as file:
        names = [field.name for field in fields(Label)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(label) for label in labels)


def write_sheet(labels: Sequence[Label], sheet: Path) -> None:
    """Write for a reader the definitions, and the story of each bug."""
    catalog = Catalog(ROOT)
    parts = [RULE, definitions()]
    for name in dict.fromkeys(label.bug for label in labels):
        story = (catalog.bug(name).directory / "README.md").read_text(encoding="utf-8")
        parts.append(f"<!-- {name} -->\n{FACTS.sub('', story)}")
    sheet.write_text("\n".join(parts), encoding="utf-8")


def definitions() -> str:
    """The entries of the closed lists with their definitions, without counterparts and examples."""
    page = (ROOT / "docs" / "taxonomy.md").read_text(encoding="utf-8")
    parts = []
    for kind in LISTS:
        section = page.split(f"\n## {kind.capitalize()}\n")[1].split("\n## ")[0]
        meaning = " ".join(section.split()).partition(". ")[0]
        parts.append(f"## {kind}\n\n{meaning}.\n")
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[0] in LISTS[kind]:
                parts.append(f"- {cells[0]}: {cells[1]}")
        parts.append("")
    return "\n".join(parts)


def of_the_catalogue(bug: Bug, kind: str) -> str:
    """The label that config.json gives to a bug."""
    return str(getattr(bug.labels, kind))


def compare(labels: Sequence[Label]) -> str:
    """How often readers agree with each other and with the catalogue, as a table of Markdown."""
    catalog = Catalog(ROOT)
    chosen = [label for label in labels if label.reader_1 and label.reader_2]
    if not chosen:
        sys.exit("no label has two answers: fill the columns reader_1 and reader_2")
    bugs = len({label.bug for label in chosen})
    lines = [f"{bugs} bugs", "", "| list | who | agree | Cohen's kappa |", "|---|---|---|---|"]
    for kind in LISTS:
        of_kind = [label for label in chosen if label.list == kind]
        if not of_kind:
            continue
        entries = {CATALOGUE: [of_the_catalogue(catalog.bug(label.bug), kind) for label in of_kind]}
        for reader in READERS:
            entries[reader] = [getattr(label, reader) for label in of_kind]
        for first, second in (READERS, (READERS[0], CATALOGUE), (READERS[1], CATALOGUE)):
            pairs = list(zip(entries[first], entries[second], strict=True))
            agreed = sum(one == other for one, other in pairs)
            share = f"{agreed}/{len(pairs)}"
            lines.append(f"| {kind} | {first}, {second} | {share} | {kappa(pairs):.2f} |")
    return "\n".join(lines)


def main() -> None:
    options = arguments(__doc__ or "", count=40)
    if options.command == "draw":
        draw(options.table, options.count, options.seed)
    elif options.command == "sheet":
        write_sheet(read(options.table), options.sheet)
    else:
        print(compare(read(options.table)))


if __name__ == "__main__":
    main()
