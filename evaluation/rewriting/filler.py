"""Innocent statements and empty lines, put before statements that both twins have."""

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from evaluation.rewriting import choice
from evaluation.rewriting.layout import SPACED
from evaluation.rewriting.names import FIRST, SECOND

# One in so many statements gets one before it.
STATEMENTS, SPACES = 6, 5
BLOCKS = ("body", "orelse", "finalbody")
# Where a statement and its block are: the block is a list, in which it can be found by identity.
Placed = tuple[ast.stmt, list[ast.stmt]]


def fill(trees: Sequence[ast.Module], seed: int, taken: set[str]) -> None:
    """Put innocent statements and empty lines into the trees; the same ones before statements that all of them have.

    So what differs between twins stays what it was. `taken` are names that the programs use.
    """
    for index, row in enumerate(_matched(trees)):
        what = ("fill", index, header(row[0][0]))
        if choice.number(seed, "space", *what) % SPACES == 0:
            for statement, _ in row:
                setattr(statement, SPACED, True)
        if choice.number(seed, *what) % STATEMENTS == 0:
            text = _innocent(seed, taken, index)
            for statement, block in row:
                at = next(place for place, each in enumerate(block) if each is statement)
                block.insert(at, ast.parse(text).body[0])


def header(statement: ast.stmt) -> str:
    """What a statement says without the blocks that it holds."""
    fields = [
        (
            name,
            [
                ast.dump(part)
                for part in (value if isinstance(value, list) else [value])
                if isinstance(part, ast.AST)
            ],
        )
        if isinstance(value, ast.AST | list) and not _holds_names(value)
        else (name, repr(value))
        for name, value in ast.iter_fields(statement)
        if name not in (*BLOCKS, "handlers", "cases")
    ]
    return f"{type(statement).__name__} {fields}"


def _holds_names(value: object) -> bool:
    """Whether it is the list of names of a statement `global`."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def statements(tree: ast.Module) -> list[str]:
    """The headers of all statements of a program, in order, each with its depth: what a difference is counted in."""
    return [f"{depth} {header(statement)}" for statement, _, depth in _walk(tree, 0)]


def _matched(trees: Sequence[ast.Module]) -> list[tuple[Placed, ...]]:
    """The statements before which something may be put: of one tree each of them, of two those that both have."""
    walked = [list(_walk(tree, 0)) for tree in trees]
    if len(walked) == 1:
        rows = [((statement, block),) for statement, block, _ in walked[0]]
    else:
        first, second = walked
        matcher = SequenceMatcher(None, statements(trees[0]), statements(trees[1]), autojunk=False)
        pairs = [
            (a + i, b + i) for a, b, size in matcher.get_matching_blocks() for i in range(size)
        ]
        rows = [(first[a][:2], second[b][:2]) for a, b in pairs]  # type: ignore[misc]
    return [row for row in rows if all(_open(*placed) for placed in row)]


def _open(statement: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether something may be put before a statement there: not in a class, where it would be an attribute."""
    return not isinstance(statement, ast.Import | ast.ImportFrom) and not getattr(
        block, "of_class", False
    )


class _Block(list[ast.stmt]):
    """The statements of a block; `of_class`: of a class."""

    of_class = False


def _walk(node: ast.AST, depth: int) -> Iterator[tuple[ast.stmt, list[ast.stmt], int]]:
    """All statements in order, each with its block and its depth."""
    for name in (*BLOCKS, "handlers", "cases"):
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue
        if isinstance(node, ast.ClassDef) and not isinstance(block, _Block):
            block = node.body = _Block(block)
            block.of_class = True
        for each in list(block):
            if isinstance(each, ast.stmt):
                yield each, block, depth
            yield from _walk(each, depth + 1)


def _innocent(seed: int, taken: set[str], index: int) -> str:
    """A statement that gives a new variable a value that nobody asks for."""
    name = f"{choice.one(seed, SECOND, 'variable', index)}_{index}"
    while name in taken:
        name += "_too"
    taken.add(name)
    values = (
        str(choice.number(seed, "value", index) % 97),
        f"{choice.number(seed, 'value', index) % 1000 / 8}",
        repr(choice.one(seed, FIRST, "value", index)),
        f"({choice.number(seed, 'left', index) % 7}, {choice.number(seed, 'right', index) % 9})",
        "None",
    )
    return f"{name} = {choice.one(seed, values, 'kind', index)}"
