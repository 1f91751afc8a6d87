"""Checks of scripts by their text: they can be read, stand alone, and do not tell which variant
they are.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from runner.bugs.bug import PROBE, Bug
from runner.bugs.case import Case
from runner.bugs.program import VARIANTS
from runner.files import untrusted
from runner.results.expected import CUDA, recorded_devices

# Words that would tell a reader, or a detector, which variant a script is. Names in PyTorch's own
# API do not match.
TELLTALE = re.compile(
    r"(?i)\b(bugs?|buggy|fix|fixed|fixme|wrong|fault|faulty|mistake|trainbugs|missing)\b"
)
ALLOWED = re.compile(r"TRAINBUGS_[A-Z]+|trainbugs run|\.cache|\"trainbugs\"")
Nodes = tuple[ast.AST, ...]
# The time to compare two scripts grows with the square of their length.
MAX_LINES = 2_000


def check_text(path: Path) -> Iterator[str]:
    """A text of a bug directory is safe to read, and not too long."""
    if not path.exists():
        return
    try:
        text = untrusted.read_text(path, untrusted.MAX_TEXT_BYTES, path.parent)
    except untrusted.UnsafeError as error:
        yield f"{path.name}: {error}"
        return
    length = len(text.splitlines())
    if length > MAX_LINES and path.suffix == ".py":
        yield f"{path.name}: has {length} lines, expected at most {MAX_LINES}"


def check_scripts(bug: Bug) -> Iterator[str]:
    """The programs of a bug can be parsed, say nothing of the bug, and import neither the project
    nor each other.
    """
    for script in bug.scripts:
        text = script.read_text(encoding="utf-8")
        try:
            nodes = _nodes(text)
        except SyntaxError as error:
            yield f"{script.name}: line {error.lineno}: {error.msg}"
            continue
        except (ValueError, RecursionError, MemoryError):
            yield f"{script.name}: cannot be parsed: an expression in it is nested too deeply"
            continue
        for number, word in _telling_words(text):
            yield (
                f"{script.name}: line {number} says {word!r}; say that in the README, "
                "detectors read this"
            )
        yield from _check_imports(bug, script, _imports(nodes))


def _telling_words(text: str) -> Iterator[tuple[int, str]]:
    """The number of each line that says which variant this is, and the first word that does."""
    # No word goes over the end of a line, and few texts have one.
    if not TELLTALE.search(ALLOWED.sub("", text)):
        return
    for number, line in enumerate(text.splitlines(), 1):
        word = TELLTALE.search(ALLOWED.sub("", line))
        if word:
            yield number, word.group()


def _check_imports(bug: Bug, script: Path, imported: set[str]) -> Iterator[str]:
    for name in sorted(imported & {"runner", "plots", "detectors", "evaluation", "trainbugs"}):
        yield f"{script.name}: imports {name}; a script must run without this project"
    if PROBE.removesuffix(".py") in imported:
        yield (
            f"{script.name}: imports {PROBE}, which measures for the expectations; a script must "
            "run without it"
        )
    variant_modules = {path.stem for path in bug.scripts if path not in (script, *bug.shared)}
    for name in sorted(imported & variant_modules):
        yield (
            f"{script.name}: imports {name}.py, a variant's script; what scripts share belongs "
            "into another file"
        )


def check_tells(bug: Bug) -> Iterator[str]:
    """No buggy script binds a name that it never uses, and that its fixed twin uses.

    Scripts of retired bugs stay as they are.
    """
    if bug.retired:
        return
    for buggy, fixed in dict.fromkeys(map(_twin_scripts, bug.cases.values())):
        try:
            buggy_nodes, fixed_nodes = (
                _nodes(path.read_text(encoding="utf-8")) for path in (buggy, fixed)
            )
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue  # Other checks say so.
        unused = _bound(buggy_nodes) - _used(buggy_nodes)
        for name in sorted(unused & _used(fixed_nodes)):
            yield (
                f"{buggy.name}: binds {name} and never uses it, and {fixed.name} does: it tells "
                "what the fix is"
            )


def _twin_scripts(case: Case) -> tuple[Path, Path]:
    variants = case.program.variants
    return variants["buggy"].script, variants["fixed"].script


def _bound(nodes: Nodes) -> set[str]:
    """The names that imports, functions, classes and assignments of the module bind."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(_alias_name(alias) for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _alias_name(alias: ast.alias) -> str:
    """What an import binds; `torch._dynamo` counts as its last part,
    as the code that uses it names it.
    """
    return alias.asname or alias.name.rpartition(".")[2]


def _used(nodes: Nodes) -> set[str]:
    """The names and attributes that are read."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    return names


def check_reads_device(bug: Bug, case: Case) -> Iterator[str]:
    """The programs of a case with expected records of a GPU ask for the device.

    Of a program that cannot be parsed `check_scripts` says so.
    """
    if CUDA not in recorded_devices(bug, case.name):
        return
    try:
        reads = reads_device(case)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if not reads:
        yield (
            f"expected/{case.name}/{CUDA}: a script never reads the parameter device, so these "
            "records are of a CPU; remove them"
        )


def reads_device(case: Case) -> bool:
    """Whether both programs of a case read the parameter `device`: a program that does not trains
    on the CPU, whatever the device of the run.

    Raises what `ast.parse` raises.
    """
    return all(
        "device" in _constants(case.program.variants[variant].script) for variant in VARIANTS
    )


def _constants(script: Path) -> set[object]:
    nodes = _nodes(script.read_text(encoding="utf-8"))
    return {node.value for node in nodes if isinstance(node, ast.Constant)}


@lru_cache(maxsize=32)
def _nodes(text: str) -> Nodes:
    """The nodes of a program, found once: several checks look at the scripts of a bug.

    Raises SyntaxError, ValueError, RecursionError or MemoryError.
    """
    # Warnings about invalid escapes, say, are not a problem of the directory.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(ast.walk(ast.parse(text)))


def _imports(nodes: Nodes) -> set[str]:
    """The names of the packages that a program imports."""
    modules: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
    return {name.split(".")[0] for name in modules}
