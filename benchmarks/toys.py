"""Do the sanitizer's toys get the verdicts that they should get, in other releases of torch, too?

    PYTHONPATH=.:tests python benchmarks/toys.py benchmarks/toys.csv torch-2.0.1 torch-2.8.0

It runs the toys of tests/evaluation/sanitizer in each environment, and adds a row to the table
for each file. `torch-2.15.0=/path/to/python` names an environment of your own, with torch, NumPy
and scikit-learn. Rows that are there are kept while their file stays as it is: it may be stopped, and
goes on. A release takes about ten minutes on an idle core.
"""

import argparse
import csv
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from support import toys
from support.paths import ROOT

from runner.environments import builder, spec
from runner.progress.lines import on_stderr

FOLDER = ROOT / "tests" / "evaluation" / "sanitizer" / "toys"
# Toys of faults of torch itself, which some of these releases have not: there is nothing to accuse.
# Since 2.8.0 at the latest a compiled step takes a float that has changed once for a variable, and
# a compiled module has the mode of the module inside.
MENDED = {(release, "wrong a milestone at 0") for release in ("torch-2.13.0", "torch-2.15.0")}
MENDED |= {
    (release, name)
    for release in ("torch-2.8.0", "torch-2.13.0", "torch-2.15.0")
    for name in (
        "wrong a compiled step that does not come back",
        "wrong a compiled step with the gradients from before its closure",
        "wrong eval",
        "wrong a float",
        "wrong inside of a function",
        "wrong from the fourth on",
    )
}
# Since 2.13.0 at the latest some schedules raise an error where a group joins their optimizer.
MENDED |= {
    (release, name)
    for release in ("torch-2.13.0", "torch-2.15.0")
    for name in (
        "advised restarts",
        "advised a function",
        "right by the program",
        "right no schedule for both",
    )
}
FLAWS = {
    ("torch-2.0.1", name)
    for name in (
        "wrong given out",
        "wrong noise of a leaky unit",
        "wrong something else the second time",
        "wrong not a number",
        "right two networks",
    )
}
# Its checkpoints go past the function that the sanitizer counts.
FLAWS |= {
    ("torch-2.15.0", name)
    for name in (
        "wrong noise of a leaky unit",
        "wrong something else the second time",
        "wrong not a number",
    )
}
# torch 2.0.1 compiles nothing under Python 3.11.
UNSUPPORTED = "not yet supported for torch.compile"


class Row(NamedTuple):
    """How many toys of a file got the verdict that they should get, and what the others got."""

    environment: str
    invariant: str
    toys: str
    held: str
    otherwise: str
    file: str


def look(environment: str, python: Path, path: Path) -> Row:
    """Run the toys of a file."""
    file = toys.load(path)
    with tempfile.TemporaryDirectory() as folder:
        toys.start(python, Path(folder), file.programs)
        wrong = list(surprises(file, Path(folder)))
    count = len(file.programs)
    return Row(
        environment=environment,
        invariant=file.name,
        toys=str(count),
        held=str(count - len(wrong)),
        otherwise="; ".join(wrong),
        file=digest(path),
    )


def surprises(file: toys.Toys, folder: Path) -> Iterator[str]:
    """A line for each toy that gets another verdict than it should, or does not end well."""
    for name in file.programs:
        kind, toy = name.split(" ", 1)
        try:
            verdict = toys.verdict(folder / name)
        except AssertionError as error:
            lines = str(error).strip().splitlines()
            reasons = [line for line in lines if "Error" in line and not line.startswith("assert")]
            yield f"{name}: does not end well: {(reasons or lines or ['no output'])[-1]}"
            continue
        expected = should(file, kind, toy)
        if set(verdict.errors) != expected:
            yield f"{name}: {sorted(verdict.errors)}, not {sorted(expected)}"
        elif kind == "advised" and toys.sure_advice(file, verdict) != (file.name,):
            yield f"{name}: advice {sorted(verdict.advice)}"
        elif kind == "right" and file.silent and toys.sure_advice(file, verdict):
            yield f"{name}: advice {sorted(verdict.advice)}, not silent"
        elif (
            kind == "wrong"
            and toy in file.iterations
            and verdict.errors != {file.name: file.iterations[toy]}
        ):
            yield f"{name}: {verdict.errors}, not in iteration {file.iterations[toy]}"


def unexplained(row: Row) -> list[str]:
    """What of a row's other verdicts MENDED, FLAWS and UNSUPPORTED do not say."""
    known = MENDED | FLAWS
    parts = [part for part in row.otherwise.split("; ") if part]
    return [
        part
        for part in parts
        if UNSUPPORTED not in part and (row.environment, part.split(":")[0]) not in known
    ]


def should(file: toys.Toys, kind: str, toy: str) -> set[str]:
    """The errors that a toy should get."""
    if kind == "wrong":
        return {file.name}
    return set(file.others.get(toy, ())) if kind == "right" else set()


def digest(path: Path) -> str:
    """A short hash of a file of toys."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def read_table(path: Path) -> list[Row]:
    """The rows of a table; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows, sorted by environment and invariant."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(sorted(rows))


def interpreter(argument: str) -> tuple[str, Path]:
    """The name and the interpreter of NAME or of NAME=PYTHON."""
    name, _, own = argument.partition("=")
    if own:
        return name, Path(own)
    return name, builder.build(spec.load(ROOT, name), on_stderr()).python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("environments", nargs="+")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    paths = sorted(FOLDER.glob("*.py"))
    for argument in options.environments:
        name, python = interpreter(argument)
        for number, path in enumerate(paths, 1):
            rows = {(row.environment, row.invariant): row for row in read_table(options.table)}
            known = rows.get((name, toys.load(path).name))
            if known and known.file == digest(path):
                continue
            row = look(name, python, path)
            write_table(options.table, {**rows, (name, row.invariant): row}.values())
            print(f"{name} [{number}/{len(paths)}] {row.invariant}: {row.held}/{row.toys} "
                  f"{row.otherwise}", file=sys.stderr, flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
