"""What operators have in common: a known fault pattern,
the places of a program where it can be put, and its edits.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evaluation.rewriting.layout import ORIGIN

Block = list[ast.stmt]


@dataclass(frozen=True)
class Edit:
    """One way to put a fault into a tree: `make` does it,
    in `line` of the text that the tree was parsed from.
    """

    line: int
    make: Callable[[], None]


@dataclass(frozen=True)
class Operator:
    """A known fault pattern. `edits` finds the places in a tree;
    the repair of each edit is the tree as it was.

    `api` is what is misused, `iteration` (from 1) the first one in which the fault acts.
    `judged_by_loss` is False where a recorded loss means something else with the fault than
    without.
    """

    name: str
    title: str
    api: str
    edits: Callable[[ast.Module], Iterator[Edit]]
    iteration: int = 1
    judged_by_loss: bool = True


def find_blocks(tree: ast.AST) -> Iterator[Block]:
    """All blocks of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def method_of(statement: ast.stmt, name: str) -> ast.Attribute | None:
    """The `receiver.name` of a statement that is a call of this method, and nothing else."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    function = statement.value.func
    if isinstance(function, ast.Attribute) and function.attr == name:
        return function
    return None


def find_sequences(tree: ast.AST, *methods: str) -> Iterator[tuple[Block, list[int]]]:
    """The blocks in which the methods are called one after the other,
    and the places of these statements.
    """
    for block in find_blocks(tree):
        places: list[int] = []
        for place, statement in enumerate(block):
            if len(places) < len(methods) and method_of(statement, methods[len(places)]):
                places.append(place)
        if len(places) == len(methods):
            yield block, places


def find_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """All calls."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def last_name(node: ast.expr) -> str:
    """The last part of a name: `cross_entropy` of functional.cross_entropy;
    empty for anything else.
    """
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return ""


def find_assignments(
    tree: ast.AST, is_value: Callable[[ast.Call], bool]
) -> Iterator[tuple[Block, int, ast.Name, ast.Call]]:
    """Statements `name = call(...)` of such calls: block, place, name and call."""
    for block in find_blocks(tree):
        for place, statement in enumerate(block):
            if not isinstance(statement, ast.Assign):
                continue
            target, value = statement.targets[0], statement.value
            if not isinstance(target, ast.Name) or not isinstance(value, ast.Call):
                continue
            if is_value(value):
                yield block, place, target, value


def is_optimizer(call: ast.Call) -> bool:
    """Whether it makes an optimizer of all parameters of a model:
    torch.optim.Adam(model.parameters(), …).
    """
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    parameters = call.args[0]
    if not isinstance(parameters, ast.Call) or not isinstance(parameters.func, ast.Attribute):
        return False
    return last_name(call.func.value) == "optim" and parameters.func.attr == "parameters"


def new_statement(text: str, like: ast.stmt) -> ast.stmt:
    """A new statement, which counts as standing in the line of another one."""
    statement = ast.parse(text).body[0]
    for node in ast.walk(statement):
        if hasattr(node, "lineno"):
            setattr(node, ORIGIN, (like.lineno, like.end_lineno))
    return statement


def new_expression(text: str, **parts: ast.expr) -> ast.expr:
    """A new expression, in which names are replaced by parts of the program."""

    class PartReplacer(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return parts.get(node.id, node)

    expression: ast.expr = PartReplacer().visit(ast.parse(text, mode="eval").body)
    return expression


def neighbour_line(block: Sequence[ast.stmt], place: int) -> int:
    """The line of what comes after a statement that is taken out, or before it; its own,
    where it is alone.
    """
    neighbour = block[place + 1] if place + 1 < len(block) else block[max(place - 1, 0)]
    return neighbour.lineno


def remove_statement(block: Block, place: int) -> Callable[[], None]:
    """An edit that takes a statement out."""

    def remove() -> None:
        substitute = [] if len(block) > 1 else [new_statement("pass", block[place])]
        block[place : place + 1] = substitute

    return remove


def replace_argument(call: ast.Call, index: int, text: str) -> Callable[[], None]:
    """An edit that puts an expression of an `argument` of a call in its place."""

    def replace() -> None:
        call.args[index] = new_expression(text, argument=call.args[index])

    return replace


def insert_statement(block: Block, place: int, text: str) -> Callable[[], None]:
    """An edit that puts a statement before the one at a place."""

    def insert() -> None:
        block.insert(place, new_statement(text, block[place]))

    return insert


def rename_function(function: ast.Attribute, name: str) -> Callable[[], None]:
    """An edit that calls another function of the same module or object."""

    def rename() -> None:
        function.attr = name

    return rename
