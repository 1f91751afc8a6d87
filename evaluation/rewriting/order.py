"""Another order of a program's definitions: functions and classes that do not need each other to be defined."""

import ast
from collections.abc import Mapping, Sequence, Set

from evaluation.rewriting import choice
from evaluation.rewriting.names import DEFINITIONS

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def reorder(trees: Sequence[ast.Module], seed: int) -> None:
    """Reorder, in each tree, what stands in one row of definitions at its top level; the same way in all trees.

    The order depends on the names alone, and on what the definitions need of each other in any of the trees.
    """
    needs: dict[str, set[str]] = {}
    for tree in trees:
        definitions = {node.name: node for node in tree.body if isinstance(node, DEFINITIONS)}
        for name, node in definitions.items():
            needs.setdefault(name, set()).update(_needed(node, definitions))
    for tree in trees:
        tree.body = [
            statement for row in _rows(tree.body) for statement in _sorted(row, needs, seed)
        ]


def _rows(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Consecutive definitions together, any other statement by itself."""
    rows: list[list[ast.stmt]] = []
    for statement in body:
        after_definition = rows and isinstance(rows[-1][-1], DEFINITIONS)
        if after_definition and isinstance(statement, DEFINITIONS):
            rows[-1].append(statement)
        else:
            rows.append([statement])
    return rows


def _sorted(row: list[ast.stmt], needs: Mapping[str, Set[str]], seed: int) -> list[ast.stmt]:
    definitions = [statement for statement in row if isinstance(statement, DEFINITIONS)]
    left = {definition.name: definition for definition in definitions}
    if len(left) < len(row) or len(row) < 2:
        return row
    ordered: list[ast.stmt] = []
    while left:
        # One that is defined in terms of each other's names stays where the program has it.
        ready = [name for name in left if not needs[name] & (left.keys() - {name})] or [
            next(iter(left))
        ]
        ordered.append(left.pop(min(ready, key=lambda name: choice.number(seed, "order", name))))
    return ordered


def _needed(node: Definition, definitions: Mapping[str, Definition]) -> set[str]:
    """The names that are looked up when the definition is executed, and by whatever may be called then."""
    todo, needed = list(_at_once(node)), set[str]()
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            todo += _loaded(definitions[name]) if name in definitions else ()
    return needed


def _at_once(node: Definition) -> set[str]:
    if isinstance(node, ast.ClassDef) or node.decorator_list:
        # A class body is executed, and a decorator may call what it is given.
        return _loaded(node)
    annotations = [arg.annotation for arg in ast.walk(node.args) if isinstance(arg, ast.arg)]
    parts = [*node.args.defaults, *node.args.kw_defaults, *annotations, node.returns]
    return {name for part in parts if part for name in _loaded(part)}


def _loaded(node: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
