"""The text of a tree, in another layout; which line of it holds what was in a line of the original.

`ast` is enough: comments and layout are to be lost, which a library that keeps them would only make
harder.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.rewriting.names import DEFINITIONS

# Attribute of a node: the lines of the original, first and last.
ORIGIN = "_origin"
# Attribute of a statement before which there is an empty line.
SPACED = "_spaced"


class RewriteError(Exception):
    """Raised where a program cannot be rewritten; the message says why."""


@dataclass(frozen=True)
class RewrittenText:
    """A rewritten program; `lines` has the new number of each line of the original that is still
    there.
    """

    text: str
    lines: Mapping[int, int]


def parse_program(text: str) -> ast.Module:
    """The tree of a program, without docstrings; its nodes know the lines where they were. Raises
    RewriteError.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise RewriteError(f"cannot be parsed: {error}") from error
    for node in ast.walk(tree):
        first_line = getattr(node, "lineno", None)
        if first_line:
            last_line = getattr(node, "end_lineno", first_line)
            setattr(node, ORIGIN, (first_line, last_line))
    if "__doc__" not in text:
        _drop_docstrings(tree)
    return tree


def write_program(tree: ast.Module) -> RewrittenText:
    """The text of a tree; raises RewriteError where it would be another program's."""
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    new_tree = ast.parse(text)
    if ast.dump(new_tree) != ast.dump(tree):
        raise RewriteError("its text cannot be written anew without a change of what it says")
    spaced_numbers = _spaced_lines(tree, new_tree)
    spaced_lines: list[str] = []
    # The number with empty lines, by the number without.
    moved: dict[int, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if number in spaced_numbers and spaced_lines and spaced_lines[-1].strip():
            spaced_lines.append("")
        spaced_lines.append(line)
        moved[number] = len(spaced_lines)
    lines = {old: moved[new] for old, new in _new_lines(tree, new_tree).items()}
    return RewrittenText("\n".join(spaced_lines) + "\n", lines)


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, *DEFINITIONS)):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
            if not node.body and not isinstance(node, ast.Module):
                node.body = [ast.Pass()]


def _spaced_lines(tree: ast.Module, new_tree: ast.Module) -> set[int]:
    """The lines of the new tree before which there is an empty line."""
    numbers = set()
    for old, new in zip(ast.walk(tree), ast.walk(new_tree), strict=True):
        if getattr(old, SPACED, False) and isinstance(new, ast.stmt):
            numbers.add(_first_line(new))
    return numbers


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _new_lines(tree: ast.Module, new_tree: ast.Module) -> dict[int, int]:
    """New lines by old ones: of what begins in the line,
    else of the innermost thing that reaches over it.
    """
    begins: dict[int, int] = {}
    reaches: dict[int, int] = {}
    for old, new in zip(ast.walk(tree), ast.walk(new_tree), strict=True):
        first_line, last_line = getattr(old, ORIGIN, (1, 0))
        new_line = getattr(new, "lineno", 0)
        for line in range(first_line, last_line + 1):
            # What comes later in this walk lies deeper.
            reaches[line] = new_line
        if last_line:
            begins.setdefault(first_line, new_line)
    return reaches | begins
