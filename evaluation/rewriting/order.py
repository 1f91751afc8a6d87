"""Another order of a program's definitions: functions and classes that do not need each other to be
defined.
"""

import ast
from collections.abc import Mapping, Sequence, Set

from evaluation.rewriting import choice
from evaluation.rewriting.names import DEFINITIONS

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def reorder(trees: Sequence[ast.Module], seed: int) -> None:
    """Reorder, in each tree, what stands in one row of definitions at its top level;
    the same way in all trees.

    The order depends on the names alone, and on what the definitions need of each other in any of
    the trees.
    """
    needs: dict[str, set[str]] = {}
    for tree in trees:
        definitions = {node.name: node for node in tree.body if isinstance(node, DEFINITIONS)}
        for name, node in definitions.items():
            needs.setdefault(name, set()).update(_needed_names(node, definitions))
    for tree in trees:
        rows = [_sort_row(row, needs, seed) for row in _rows(tree.body)]
        tree.body = [statement for row in rows for statement in row]


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


def _sort_row(row: list[ast.stmt], needs: Mapping[str, Set[str]], seed: int) -> list[ast.stmt]:
    definitions = [statement for statement in row if isinstance(statement, DEFINITIONS)]
    remaining = {definition.name: definition for definition in definitions}
    if len(remaining) < len(row) or len(row) < 2:
        return row
    ordered: list[ast.stmt] = []
    while remaining:
        ready = [name for name in remaining if not needs[name] & (remaining.keys() - {name})]
        if not ready:
            # Definitions that need each other stay where the program has them.
            ready = [next(iter(remaining))]
        first = min(ready, key=lambda name: choice.number(seed, "order", name))
        ordered.append(remaining.pop(first))
    return ordered


def _needed_names(node: Definition, definitions: Mapping[str, Definition]) -> set[str]:
    """The names that are looked up when the definition is executed,
    and by whatever may be called then.
    """
    todo = list(_names_at_once(node))
    needed = set[str]()
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            if name in definitions:
                todo += _loaded_names(definitions[name])
    return needed


def _names_at_once(node: Definition) -> set[str]:
    if isinstance(node, ast.ClassDef) or node.decorator_list:
        # A class body is executed, and a decorator may call what it is given.
        return _loaded_names(node)
    annotations = [arg.annotation for arg in ast.walk(node.args) if isinstance(arg, ast.arg)]
    parts = [*node.args.defaults, *node.args.kw_defaults, *annotations, node.returns]
    return {name for part in parts if part for name in _loaded_names(part)}


def _loaded_names(node: ast.AST) -> set[str]:
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, ast.Load)}
