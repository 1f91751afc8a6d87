"""How easily the code and the docs read, in figures: names, statements, lines, assertions,
sentences.

    python benchmarks/readability.py                 # all packages, as a table
    python benchmarks/readability.py runner plots    # these folders alone
    python benchmarks/readability.py --names runner  # with the vague names, and where they stand
    python benchmarks/readability.py --root OTHER    # another checkout, to compare

A name is *vague* if it is on the list below: a pronoun, a participle or a bare adverb that says
nothing of the value.
"""

import argparse
import ast
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = ("runner", "evaluation", "plots", "trainbugs", "detectors/sanitizer", "tests")
# Programs that the project runs as they are: their bytes are hashed by keys of records.
UNTOUCHED = ("runner/execution/with_probe.py",)
VAGUE_TEXT = """
each one ones given found said kept own beside means read told seen asked met there those others
rest what which who whose whom how here such named made good left taken wanted chosen known lacking
mine it thing things stuff
"""
VAGUE_NAMES = frozenset(VAGUE_TEXT.split())
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Measures:
    """Counts of one package; `nodes` and `statements` are of its functions."""

    lines: list[int] = field(default_factory=list)
    statements: int = 0
    nodes: int = 0
    comprehensions: int = 0
    nested_comprehensions: int = 0
    conditionals: int = 0
    chained_conditionals: int = 0
    names: Counter[str] = field(default_factory=Counter)
    vague: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    tests: int = 0
    compound_tests: int = 0

    @property
    def vague_share(self) -> float:
        """Vague bindings among all bindings of local names, in percent."""
        vague = sum(len(places) for places in self.vague.values())
        return 100 * vague / max(1, sum(self.names.values()))

    def row(self, package: str) -> list[str]:
        """The cells of the table."""
        thousands = max(1, len(self.lines)) / 1000
        compound = 100 * self.compound_tests / self.tests if self.tests else None
        return [
            package,
            str(len(self.lines)),
            f"{self.vague_share:.1f}",
            f"{self.nodes / max(1, self.statements):.1f}",
            f"{self.comprehensions / thousands:.0f} ({self.nested_comprehensions / thousands:.1f})",
            f"{self.conditionals / thousands:.0f} ({self.chained_conditionals / thousands:.1f})",
            str(_percentile(self.lines, 90)),
            str(max(self.lines, default=0)),
            "-" if compound is None else f"{compound:.0f}",
        ]


HEADINGS = (
    "package",
    "lines",
    "vague names, %",
    "nodes a statement",
    "comprehensions / 1000 lines (nested)",
    "conditional expressions / 1000 lines (chained)",
    "columns, p90",
    "most columns",
    "tests with compound assertions, %",
)


def measure(root: Path, package: str) -> Measures:
    """The figures of the Python files in a folder."""
    measures = Measures()
    for path in _files(root, package):
        text = path.read_text(encoding="utf-8")
        measures.lines += [len(line) for line in text.splitlines()]
        tree = ast.parse(text)
        _count_nodes(tree, measures)
        where = path.relative_to(root).as_posix()
        for name, line in _local_names(tree):
            measures.names[name] += 1
            if is_vague(name):
                measures.vague[name].append(f"{where}:{line}")
    return measures


def is_vague(name: str) -> bool:
    """Whether a name says nothing of its value."""
    word = name.strip("_")
    return word in VAGUE_NAMES or word.startswith("of_")


def _files(root: Path, package: str) -> list[Path]:
    paths = sorted((root / package).rglob("*.py"))
    untouched = {root / path for path in UNTOUCHED}
    return [path for path in paths if path not in untouched and "__pycache__" not in path.parts]


def _local_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that functions bind (arguments, targets, loops, comprehensions),
    and names of functions.
    """
    for function in ast.walk(tree):
        if isinstance(function, FUNCTIONS):
            # A verb, where a function bears it.
            if function.name.strip("_") != "read":
                yield function.name, function.lineno
            yield from _bindings(function)


def _bindings(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The bindings of one function, without its inner functions, which come by themselves."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTIONS):
            continue
        if isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            yield node.arg, node.lineno
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        if isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node.lineno
        waiting += ast.iter_child_nodes(node)


def _count_nodes(tree: ast.AST, measures: Measures) -> None:
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            measures.nodes += sum(1 for _ in ast.walk(node))
            measures.statements += sum(map(_is_statement, ast.walk(node))) - 1
        if isinstance(node, COMPREHENSIONS):
            measures.comprehensions += 1
            measures.nested_comprehensions += _has_inner(node, COMPREHENSIONS)
        if isinstance(node, ast.IfExp):
            measures.conditionals += 1
            measures.chained_conditionals += _has_inner(node, (ast.IfExp,))
        if isinstance(node, FUNCTIONS) and node.name.startswith("test_"):
            measures.tests += 1
            measures.compound_tests += _is_compound(node)


def _is_statement(node: ast.AST) -> bool:
    """Whether a node is a statement that does something: a docstring is none."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return isinstance(node, ast.stmt) and not is_text


def _has_inner(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    inner = ast.walk(node)
    next(inner)
    return any(isinstance(child, kinds) for child in inner)


def _is_compound(test: ast.AST) -> bool:
    """Whether one of its assertions joins several statements by `and`."""
    asserted = [node.test for node in ast.walk(test) if isinstance(node, ast.Assert)]
    joined = [claim.op for claim in asserted if isinstance(claim, ast.BoolOp)]
    return any(isinstance(operator, ast.And) for operator in joined)


def _percentile(values: Sequence[int], percent: int) -> int:
    if len(values) < 2:
        return max(values, default=0)
    return int(statistics.quantiles(values, n=100)[percent - 1])


def shared_class_names(root: Path) -> dict[str, list[str]]:
    """Names of classes that stand in several modules of the packages, tests left out."""
    modules: dict[str, list[str]] = defaultdict(list)
    for package in ("runner", "evaluation", "plots", "trainbugs"):
        for path in _files(root, package):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    modules[node.name].append(path.relative_to(root).as_posix())
    return {name: paths for name, paths in sorted(modules.items()) if len(paths) > 1}


def prose(root: Path) -> dict[str, float]:
    """Figures of README.md, CONTRIBUTING.md and docs/*.md, in 100 words;
    code and tables are left out.
    """
    paths = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    text = "\n".join(_plain(path.read_text(encoding="utf-8")) for path in paths)
    words = re.findall(r"[A-Za-z']+", text)
    hundreds = max(1, len(words)) / 100
    sentences = [len(sentence.split()) for sentence in re.split(r"[.!?:;]\s", text)]
    return {
        "words": len(words),
        "commas / 100 words": text.count(",") / hundreds,
        '"you" / 100 words': sum(word.lower() in ("you", "your") for word in words) / hundreds,
        "bare one, those, that of / 100 words": _bare(text) / hundreds,
        "sentences over 35 words, %": 100 * sum(n > 35 for n in sentences) / len(sentences),
    }


def _plain(markdown: str) -> str:
    without_code = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    lines = [line for line in without_code.splitlines() if not line.lstrip().startswith("|")]
    return re.sub(r"`[^`]*`", "NAME", "\n".join(line for line in lines if line[:4].strip()))


def _bare(text: str) -> int:
    return len(re.findall(r"\b(?:one|ones|those|that of)\b", text, flags=re.IGNORECASE))


def _print_names(measures: Measures) -> None:
    by_count = sorted(measures.vague.items(), key=lambda item: -len(item[1]))
    for name, places in by_count:
        print(f"  {len(places):4} {name:12} {' '.join(places[:4])}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit status is 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), metavar="FOLDER")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], metavar="DIR")
    parser.add_argument("--names", action="store_true", help="list the vague names")
    options = parser.parse_args(arguments)
    for package in options.packages:
        if not (options.root / package).is_dir():
            parser.error(f"{options.root / package}: is no folder, expected one of a checkout")
    print("| " + " | ".join(HEADINGS) + " |")
    print("|---" * len(HEADINGS) + "|")
    for package in options.packages:
        measures = measure(options.root, package)
        print("| " + " | ".join(measures.row(package)) + " |")
        if options.names:
            _print_names(measures)
    if options.packages == list(PACKAGES):
        shared = shared_class_names(options.root)
        print(f"\nclass names in several modules: {len(shared)} ({', '.join(shared)})")
        for name, value in prose(options.root).items():
            print(f"docs: {name}: {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
