"""Does `trainbugs validate --devices` see a script that forgets a move to the GPU?

    python device_mutants.py TABLE --number 40 --seed 0 --environment torch-2.13.0

A mutant is a fixed script in which one `.to(device)`, `.cuda()` or `device=device` is left out. All
such places of the scripts in the environment are listed and shuffled by the seed; the first ones
are tried. TABLE gets a row for each. A row that is there is not made again.
"""

import argparse
import ast
import csv
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from runner.authoring.devices import check_run
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.session.session import Session

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ("case", "line", "left_out", "status", "reason")
FIXED = "fixed"


@dataclass(frozen=True)
class Place:
    """A move in a fixed script: the line, what is left out, and the script without it."""

    target: Target
    line: int
    left_out: str
    text: str


def places(target: Target) -> Iterator[Place]:
    """All moves of a case's fixed script."""
    source = target.case.program.variants[FIXED].script.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        is_move = isinstance(function, ast.Attribute) and function.attr in ("to", "cuda")
        if is_move and (function.attr == "cuda" or _names_device(node.args)):
            inner = ast.get_source_segment(source, function.value)
            whole = ast.get_source_segment(source, node)
            if inner and whole:
                yield _without(target, source, node, inner, whole.removeprefix(inner))
        for keyword in node.keywords:
            if keyword.arg == "device" and _names_device([keyword.value]):
                yield _without(target, source, keyword.value, '"cpu"', "device=device")


def _names_device(nodes: list[ast.expr]) -> bool:
    return len(nodes) == 1 and "device" in ast.unparse(nodes[0])


def _without(target: Target, source: str, node: ast.expr, inner: str, left_out: str) -> Place:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = source.encode()
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
    text = (data[:begin] + inner.encode() + data[end:]).decode()
    return Place(target, node.lineno, " ".join(left_out.split()), text)


def chosen(catalog: Catalog, environment: str, number: int, seed: int) -> list[Place]:
    """The places that are tried."""
    found = []
    for target in catalog.select(catalog.active()):
        variants = target.case.program.variants
        is_there = FIXED in variants and variants[FIXED].environment == environment
        if is_there and target.case.program.processes == 1 and not target.case.program.data:
            found += list(places(target))
    random.Random(seed).shuffle(found)
    return found[:number]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--environment", default="torch-2.13.0")
    parser.add_argument("--results", type=Path, default=Path("results/devices"))
    options = parser.parse_args()
    catalog = Catalog(ROOT)
    session = Session(catalog, Options(device="cpu", results=options.results), on_stderr())
    lines = options.table.read_text().splitlines() if options.table.exists() else []
    rows = list(csv.DictReader(lines))
    made = {(row["case"], row["line"], row["left_out"]) for row in rows}
    for place in chosen(catalog, options.environment, options.number, options.seed):
        if (place.target.case.id, str(place.line), place.left_out) in made:
            continue
        rows.append(tried(place, session))
        with options.table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 0


def tried(place: Place, session: Session) -> dict[str, object]:
    """The row of a mutant."""
    target = Target(place.target.bug, place.target.case, (FIXED,))
    (run,) = session.plan(target, target.case.program.seeds[:1])
    script = target.case.program.variants[FIXED].script.name
    check = check_run(replace(run, scripts={**run.scripts, script: place.text.encode()}))
    print(target.case.id, place.line, place.left_out, check.status, check.reason, file=sys.stderr)
    cells = (target.case.id, place.line, place.left_out, check.status, check.reason)
    return dict(zip(FIELDS, cells, strict=True))


if __name__ == "__main__":
    sys.exit(main())
