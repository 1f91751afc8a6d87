"""The text of a tree, in another layout; which line of it holds what was in a line of the original.

`ast` is enough: comments and layout are to be lost, which a library that keeps them would only make harder.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation.rewriting.names import DEFINITIONS

# An attribute of a node: the lines of the original, first and last.
ORIGIN = "_origin"
# An attribute of a statement before which there is an empty line.
SPACED = "_spaced"


class RewriteError(Exception):
    """Raised where a program cannot be rewritten; the message says why."""


@dataclass(frozen=True)
class Text:
    """A rewritten program; `lines` has the new number of each line of the original that is still there."""

    text: str
    lines: Mapping[int, int]


def parsed(text: str) -> ast.Module:
    """The tree of a program, without docstrings; its nodes know the lines where they were. Raises RewriteError."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise RewriteError(f"cannot be parsed: {error}") from error
    for node in ast.walk(tree):
        first = getattr(node, "lineno", None)
        if first:
            setattr(node, ORIGIN, (first, getattr(node, "end_lineno", first)))
    if "__doc__" not in text:
        _drop_docstrings(tree)
    return tree


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, *DEFINITIONS))
            and ast.get_docstring(node, clean=False) is not None
        ):
            rest = node.body[1:]
            node.body = rest or ([] if isinstance(node, ast.Module) else [ast.Pass()])


def written(tree: ast.Module) -> Text:
    """The text of a tree; raises RewriteError where it would be another program's."""
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    again = ast.parse(text)
    if ast.dump(again) != ast.dump(tree):
        raise RewriteError("its text cannot be written anew without a change of what it says")
    before = _spaces(zip(ast.walk(tree), ast.walk(again), strict=True))
    lines = text.splitlines()
    spaced: list[str] = []
    moved: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        if number in before and spaced and spaced[-1].strip():
            spaced.append("")
        spaced.append(line)
        moved[number] = len(spaced)
    places = _places(tree, again)
    return Text("\n".join(spaced) + "\n", {old: moved[new] for old, new in places.items()})


def _spaces(pairs: Iterable[tuple[ast.AST, ast.AST]]) -> set[int]:
    return {
        _first(new)
        for old, new in pairs
        if getattr(old, SPACED, False) and isinstance(new, ast.stmt)
    }


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _places(tree: ast.Module, again: ast.Module) -> dict[int, int]:
    """New lines by old ones: of what begins in the line, else of the innermost thing that reaches over it."""
    begins: dict[int, int] = {}
    reaches: dict[int, int] = {}
    for old, new in zip(ast.walk(tree), ast.walk(again), strict=True):
        first, last = getattr(old, ORIGIN, (1, 0))
        for line in range(first, last + 1):
            # What comes later in this walk lies deeper.
            reaches[line] = getattr(new, "lineno", 0)
        if last:
            begins.setdefault(first, getattr(new, "lineno", 0))
    return reaches | begins
