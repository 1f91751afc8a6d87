"""What operators have in common: a known fault pattern, the places of a program where it can be put, and its edits."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evaluation.rewriting.layout import ORIGIN

Block = list[ast.stmt]


@dataclass(frozen=True)
class Edit:
    """One way to put a fault into a tree: `make` does it, in `line` of the text that the tree was parsed from."""

    line: int
    make: Callable[[], None]


@dataclass(frozen=True)
class Operator:
    """A known fault pattern. `edits` finds the places in a tree; the repair of each edit is the tree as it was.

    `api` is what is misused, `iteration` (from 1) the first one in which the fault acts. `judged_by_loss` is False
    where a recorded loss means something else with the fault than without.
    """

    name: str
    title: str
    api: str
    edits: Callable[[ast.Module], Iterator[Edit]]
    iteration: int = 1
    judged_by_loss: bool = True


def blocks(tree: ast.AST) -> Iterator[Block]:
    """All blocks of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def calls(statement: ast.stmt, method: str) -> ast.Attribute | None:
    """The `receiver.method` of a statement that is a call of it, and nothing else."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    named = call.func if isinstance(call, ast.Call) else None
    return named if isinstance(named, ast.Attribute) and named.attr == method else None


def with_calls(tree: ast.AST, *methods: str) -> Iterator[tuple[Block, list[int]]]:
    """The blocks in which the methods are called one after the other, and the places of these statements."""
    for block in blocks(tree):
        places: list[int] = []
        for place, statement in enumerate(block):
            if len(places) < len(methods) and calls(statement, methods[len(places)]):
                places.append(place)
        if len(places) == len(methods):
            yield block, places


def expressions(tree: ast.AST) -> Iterator[ast.Call]:
    """All calls."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def word(node: ast.expr) -> str:
    """The last part of a name: `cross_entropy` of functional.cross_entropy; empty for anything else."""
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def assigned(
    tree: ast.AST, is_value: Callable[[ast.Call], bool]
) -> Iterator[tuple[Block, int, ast.Name, ast.Call]]:
    """Statements `name = call(...)` of such calls: block, place, name and call."""
    for block in blocks(tree):
        for place, statement in enumerate(block):
            if not isinstance(statement, ast.Assign) or not isinstance(
                statement.targets[0], ast.Name
            ):
                continue
            if isinstance(statement.value, ast.Call) and is_value(statement.value):
                yield block, place, statement.targets[0], statement.value


def is_optimizer(call: ast.Call) -> bool:
    """Whether it makes an optimizer of all parameters of a model: torch.optim.Adam(model.parameters(), …)."""
    if (
        not isinstance(call.func, ast.Attribute)
        or word(call.func.value) != "optim"
        or not call.args
    ):
        return False
    given = call.args[0]
    return (
        isinstance(given, ast.Call)
        and word(given.func) == "parameters"
        and isinstance(given.func, ast.Attribute)
    )


def statement(text: str, like: ast.stmt) -> ast.stmt:
    """A new statement, which counts as standing in the line of another one."""
    new = ast.parse(text).body[0]
    for node in ast.walk(new):
        if hasattr(node, "lineno"):
            setattr(node, ORIGIN, (like.lineno, like.end_lineno))
    return new


def expression(text: str, **parts: ast.expr) -> ast.expr:
    """A new expression, in which names are replaced by parts of the program."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return parts.get(node.id, node)

    new: ast.expr = Put().visit(ast.parse(text, mode="eval").body)
    return new


def neighbour(block: Sequence[ast.stmt], place: int) -> int:
    """The line of what comes after a statement that is taken out, or before it; its own, where it is alone."""
    near = block[place + 1] if place + 1 < len(block) else block[max(place - 1, 0)]
    return near.lineno


def removed(block: Block, place: int) -> Callable[[], None]:
    """An edit that takes a statement out."""

    def remove() -> None:
        block[place : place + 1] = [] if len(block) > 1 else [statement("pass", block[place])]

    return remove
