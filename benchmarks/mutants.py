"""Whether the tests see small faults in the code: mutants that a seed draws,
and the tests that kill them.

    python benchmarks/mutants.py draw mutants.csv --count 200 --seed 0
    python benchmarks/mutants.py run mutants.csv --jobs 2   # goes on after a stop
    python benchmarks/mutants.py before mutants-fates.csv --tree OLD   # of an older checkout

A mutant changes one operator, condition or constant of a module. It is killed if a test fails that
passes without it. The tests are the files that mirror the module's folder, and the files that name
the module. `before` tries those that survived in an older checkout, where the line stands there once,
and says which of them the tests of that day killed.
"""

import argparse
import ast
import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("runner", "evaluation", "plots", "trainbugs")
# Programs that other interpreters run, or that no test of this folder imports.
LEFT_OUT = ("evaluation/kit", "evaluation/bare", "runner/execution/with_probe.py", "skeleton")
TIMEOUT_S = 900
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one place: the columns `first` to `last` of the lines `line` to `last_line`."""

    module: str
    line: int
    first: int
    last_line: int
    last: int
    before: str
    after: str

    def apply(self, root: Path) -> None:
        """Write the changed module; positions are in bytes of UTF-8, as the syntax tree counts."""
        path = root / self.module
        lines = path.read_bytes().splitlines(keepends=True)
        head = b"".join(lines[: self.line - 1]) + lines[self.line - 1][: self.first]
        tail = lines[self.last_line - 1][self.last :] + b"".join(lines[self.last_line :])
        path.write_bytes(head + self.after.encode() + tail)


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: `killed`, `survived` or `timeout`,
    and the test that failed first.
    """

    mutant: Mutant
    fate: str
    test: str


def draw(count: int, seed: int) -> list[Mutant]:
    """Mutants of all packages, each place equally likely; sorted by place."""
    mutants = [mutant for path in _modules() for mutant in _mutants(path)]
    drawn = random.Random(seed).sample(mutants, min(count, len(mutants)))
    return sorted(drawn, key=astuple)


def _modules() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not any(part in name for part in LEFT_OUT):
                yield path


def _mutants(path: Path) -> Iterator[Mutant]:
    text = path.read_text(encoding="utf-8")
    module = path.relative_to(ROOT).as_posix()
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in _inner_nodes(function):
            after = _changed(node)
            before = ast.get_source_segment(text, node)
            if after is not None and before is not None:
                yield _mutant(module, node, before, after)


def _inner_nodes(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The expressions of the statements of a function, annotations and inner functions left out."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.JoinedStr):
            continue
        if isinstance(node, ast.expr):
            yield node
        if isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
            continue
        waiting += ast.iter_child_nodes(node)


def _mutant(module: str, node: ast.expr, before: str, after: str) -> Mutant:
    last_line, last = node.end_lineno or node.lineno, node.end_col_offset or 0
    return Mutant(module, node.lineno, node.col_offset, last_line, last, before, after)


def _changed(node: ast.expr) -> str | None:
    """The text of a changed expression; None where there is nothing to change."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        operators = [SWAPS[type(node.ops[0])](), *node.ops[1:]]
        return f"({ast.unparse(ast.Compare(node.left, operators, node.comparators))})"
    if isinstance(node, ast.BoolOp):
        return f"({ast.unparse(ast.BoolOp(SWAPS[type(node.op)](), node.values))})"
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        return f"({ast.unparse(ast.BinOp(node.left, SWAPS[type(node.op)](), node.right))})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"bool({ast.unparse(node.operand)})"
    if isinstance(node, ast.IfExp):
        return f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return str(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(node.value + 1)
    return None


def tests_for(module: str, root: Path = ROOT) -> list[str]:
    """The test files of a module: its folder's mirror, or the next folder above that has one; then
    files that name the module.
    """
    path = Path(module)
    folders = [root / "tests" / parent for parent in path.parents]
    mirror = next((folder for folder in folders if folder.is_dir()), root / "tests")
    mirrored = _tests_in(mirror, root)
    dotted = ".".join(path.with_suffix("").parts)
    everything = sorted((root / "tests").rglob("test_*.py"))
    naming = [test for test in everything if _names(test, dotted)]
    first = [test for test in naming if test in mirrored]
    ordered = dict.fromkeys([*first, *mirrored, *naming])
    return [test.relative_to(root).as_posix() for test in ordered]


def _tests_in(folder: Path, root: Path) -> list[Path]:
    """The test files of a folder; none of the folder of all tests itself."""
    return [] if folder == root / "tests" else sorted(folder.glob("test_*.py"))


def _names(test: Path, dotted: str) -> bool:
    package, _, name = dotted.rpartition(".")
    text = test.read_text(encoding="utf-8")
    return f"{dotted} import" in text or f"from {package} import {name}" in text


def try_mutant(mutant: Mutant, tree: Path) -> Fate:
    """Put a mutant into a working copy, run its tests, and take it out again."""
    path = tree / mutant.module
    original = path.read_bytes()
    tests = tests_for(mutant.module, tree)
    if not tests:
        return Fate(mutant, "survived", "no tests")
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not real and not stress"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    # Programs that a test starts meet the mutant, too.
    environment = os.environ | {"PYTHONPATH": str(tree)}
    try:
        mutant.apply(tree)
        ended = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return Fate(mutant, "timeout", "")
    finally:
        path.write_bytes(original)
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    fate = "killed" if ended.returncode else "survived"
    return Fate(mutant, fate, failed[0].split(" - ")[0] if failed else "")


def run(path: Path, jobs: int) -> None:
    """Try the mutants of a table that have no fate yet; adds each fate to the table beside it."""
    mutants = _table(path)
    fates = path.with_name(f"{path.stem}-fates.csv")
    tried = set(_table(fates)) if fates.is_file() else set()
    waiting = [mutant for mutant in mutants if mutant not in tried]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        trees = [_copy(Path(folder) / f"tree{number}") for number in range(jobs)]

        def work(number: int) -> None:
            for mutant in waiting[number::jobs]:
                _append(fates, try_mutant(mutant, trees[number]))

        list(pool.map(work, range(jobs)))


def _copy(tree: Path) -> Path:
    """A working copy at the commit of this one."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tree)], check=True)
    shutil.rmtree(tree / "results", ignore_errors=True)
    return tree


def before(path: Path, tree: Path) -> None:
    """Try the mutants that survived in an older checkout; adds their fates to a table beside it."""
    with path.open(encoding="utf-8", newline="") as file:
        survivors = [_from_row(row) for row in csv.DictReader(file) if row["fate"] == "survived"]
    fates = path.with_name(f"{path.stem}-before.csv")
    tried = set(_table(fates)) if fates.is_file() else set()
    for mutant in survivors:
        there = moved(mutant, tree)
        if mutant in tried:
            continue
        result = try_mutant(there, tree) if there else Fate(mutant, "not there", "")
        _append(fates, Fate(mutant, result.fate, result.test))


def moved(mutant: Mutant, tree: Path) -> Mutant | None:
    """The mutant in another checkout; None where its line is not there, or more than once."""
    line = (ROOT / mutant.module).read_text(encoding="utf-8").splitlines()[mutant.line - 1]
    places = [
        (path, number, other)
        for package in PACKAGES
        for path in sorted((tree / package).rglob("*.py"))
        for number, other in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if other.strip() == line.strip()
    ]
    if len(places) != 1 or mutant.line != mutant.last_line:
        return None
    path, number, other = places[0]
    shift = len(other) - len(other.lstrip()) - (len(line) - len(line.lstrip()))
    return replace(
        mutant,
        module=path.relative_to(tree).as_posix(),
        line=number,
        last_line=number,
        first=mutant.first + shift,
        last=mutant.last + shift,
    )


def _table(path: Path) -> list[Mutant]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [_from_row(row) for row in rows]


def _from_row(row: dict[str, str]) -> Mutant:
    numbers = [int(row[name]) for name in ("line", "first", "last_line", "last")]
    return Mutant(row["module"], *numbers, before=row["before"], after=row["after"])


def _append(path: Path, fate: Fate) -> None:
    row = asdict(fate.mutant) | {"fate": fate.fate, "test": fate.test}
    is_new = not path.is_file()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)
    print(f"{fate.fate}: {fate.mutant.module}:{fate.mutant.line} {fate.test}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw mutants, or try them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    drawing = verbs.add_parser("draw")
    drawing.add_argument("table", type=Path)
    drawing.add_argument("--count", type=int, default=200)
    drawing.add_argument("--seed", type=int, default=0)
    trying = verbs.add_parser("run")
    trying.add_argument("table", type=Path)
    trying.add_argument("--jobs", type=int, default=1)
    looking_back = verbs.add_parser("before")
    looking_back.add_argument("table", type=Path)
    looking_back.add_argument("--tree", type=Path, required=True)
    options = parser.parse_args(arguments)
    if options.verb == "before":
        before(options.table, options.tree.resolve())
        return 0
    if options.verb == "run":
        run(options.table, options.jobs)
        return 0
    with options.table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Mutant))
        writer.writerows(astuple(mutant) for mutant in draw(options.count, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
