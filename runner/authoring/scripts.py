"""Checks of scripts by their text: they can be read, stand alone, and do not tell which variant
they are.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from runner.bugs.bug import PROBE, Bug
from runner.files import untrusted

# Words that would tell a reader, or a detector, which variant a script is. Names in PyTorch's own
# API do not match.
TELLTALE = re.compile(
    r"(?i)\b(bugs?|buggy|fix|fixed|fixme|wrong|fault|faulty|mistake|trainbugs|missing)\b"
)
ALLOWED = re.compile(r"TRAINBUGS_[A-Z]+|trainbugs run|\.cache|\"trainbugs\"")
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
            tree = _parse(text)
        except SyntaxError as error:
            yield f"{script.name}: line {error.lineno}: {error.msg}"
            continue
        except (ValueError, RecursionError, MemoryError):
            yield f"{script.name}: cannot be parsed: an expression in it is nested too deeply"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            word = TELLTALE.search(ALLOWED.sub("", line))
            if word:
                yield f"{script.name}: line {number} says {word.group()!r}; say that in the README, detectors read this"
        yield from _check_imports(bug, script, _imports(tree))


def _check_imports(bug: Bug, script: Path, imported: set[str]) -> Iterator[str]:
    for name in sorted(imported & {"runner", "plots", "detectors", "evaluation", "trainbugs"}):
        yield f"{script.name}: imports {name}; a script must run without this project"
    if PROBE.removesuffix(".py") in imported:
        yield f"{script.name}: imports {PROBE}, which measures for the expectations; a script must run without it"
    variant_modules = {path.stem for path in bug.scripts if path not in (script, *bug.shared)}
    for name in sorted(imported & variant_modules):
        yield f"{script.name}: imports {name}.py, a variant's script; what scripts share belongs into another file"


def _parse(text: str) -> ast.Module:
    # Warnings about invalid escapes, say, are not a problem of the directory.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _imports(tree: ast.Module) -> set[str]:
    """The names of the packages that a program imports."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
    return {name.split(".")[0] for name in modules}
