"""Innocent statements and empty lines, put before statements that both twins have."""

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import starmap

from evaluation.rewriting import choice
from evaluation.rewriting.layout import SPACED
from evaluation.rewriting.names import FIRST, SECOND

# An innocent statement comes before one in STATEMENTS statements, an empty line before one in
# SPACES.
STATEMENTS, SPACES = 6, 5
BLOCKS = ("body", "orelse", "finalbody")
# A statement and its block: a list in which the statement can be found by identity.
Placed = tuple[ast.stmt, list[ast.stmt]]


def fill(trees: Sequence[ast.Module], seed: int, names: set[str]) -> None:
    """Put innocent statements and empty lines into the trees;
    the same ones before statements that all of them have.

    So what differs between twins stays what it was. `names` are those that the programs use.
    """
    for index, row in enumerate(_matched(trees)):
        first_statement, _ = row[0]
        purpose = ("fill", index, header(first_statement))
        if choice.number(seed, "space", *purpose) % SPACES == 0:
            for statement, _ in row:
                setattr(statement, SPACED, True)
        if choice.number(seed, *purpose) % STATEMENTS == 0:
            text = _innocent_statement(seed, names, index)
            for statement, block in row:
                block.insert(_place(statement, block), ast.parse(text).body[0])


def header(statement: ast.stmt) -> str:
    """What a statement says without the blocks that it holds."""
    fields = [
        (name, _describe_field(value))
        for name, value in ast.iter_fields(statement)
        if name not in (*BLOCKS, "handlers", "cases")
    ]
    return f"{type(statement).__name__} {fields}"


def _describe_field(value: object) -> list[str] | str:
    if not isinstance(value, ast.AST | list) or _holds_names(value):
        return repr(value)
    parts = value if isinstance(value, list) else [value]
    return [ast.dump(part) for part in parts if isinstance(part, ast.AST)]


def _holds_names(value: object) -> bool:
    """Whether it is the list of names of a statement `global`."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _place(statement: ast.stmt, block: Sequence[ast.stmt]) -> int:
    """Where a statement stands in its block, by identity."""
    for place, other in enumerate(block):
        if other is statement:
            return place
    raise ValueError("the statement is not in its block")


def statements(tree: ast.Module) -> list[str]:
    """The headers of all statements of a program with their depths, in order:
    differences are counted in these.
    """
    return [f"{depth} {header(statement)}" for statement, _, depth in _walk(tree, 0)]


def _matched(trees: Sequence[ast.Module]) -> list[tuple[Placed, ...]]:
    """The statements before which something may be put: all of a single tree,
    or those that both trees have.
    """
    placed_by_tree = [_placed(tree) for tree in trees]
    rows: list[tuple[Placed, ...]] = []
    if len(trees) == 1:
        rows = [(placed,) for placed in placed_by_tree[0]]
    else:
        first, second = placed_by_tree
        matcher = SequenceMatcher(None, statements(trees[0]), statements(trees[1]), autojunk=False)
        for match in matcher.get_matching_blocks():
            first_part = first[match.a : match.a + match.size]
            second_part = second[match.b : match.b + match.size]
            rows += zip(first_part, second_part, strict=True)
    return [row for row in rows if all(starmap(_is_open, row))]


def _placed(tree: ast.Module) -> list[Placed]:
    """The statements of a program, with their blocks."""
    return [(statement, block) for statement, block, _ in _walk(tree, 0)]


def _is_open(statement: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether something may be put before a statement there: not in a class,
    where it would be an attribute.
    """
    is_import = isinstance(statement, ast.Import | ast.ImportFrom)
    return not is_import and not getattr(block, "in_class", False)


class _Block(list[ast.stmt]):
    """The statements of a block; `in_class`: they are the body of a class."""

    in_class = False


def _walk(node: ast.AST, depth: int) -> Iterator[tuple[ast.stmt, list[ast.stmt], int]]:
    """All statements in order, each with its block and its depth."""
    for name in (*BLOCKS, "handlers", "cases"):
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue
        if isinstance(node, ast.ClassDef) and not isinstance(block, _Block):
            block = node.body = _Block(block)
            block.in_class = True
        for child in list(block):
            if isinstance(child, ast.stmt):
                yield child, block, depth
            yield from _walk(child, depth + 1)


def _innocent_statement(seed: int, names: set[str], index: int) -> str:
    """A statement that gives a new variable a value that nobody asks for."""
    name = f"{choice.pick(seed, SECOND, 'variable', index)}_{index}"
    while name in names:
        name += "_too"
    names.add(name)
    values = (
        str(choice.number(seed, "value", index) % 97),
        f"{choice.number(seed, 'value', index) % 1000 / 8}",
        repr(choice.pick(seed, FIRST, "value", index)),
        f"({choice.number(seed, 'left', index) % 7}, {choice.number(seed, 'right', index) % 9})",
        "None",
    )
    return f"{name} = {choice.pick(seed, values, 'kind', index)}"
