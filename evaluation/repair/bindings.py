"""What a program binds names to, as far as its text tells, for `refusals`."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

# A name, and what an import binds it to; "" for whatever else binds it.
Binding = tuple[str, str]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def count_bindings(nodes: Iterable[ast.AST]) -> Counter[Binding]:
    """How often a program binds each name, at any depth; the same import counts once."""
    bound: Counter[Binding] = Counter()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for binding in _imported(node):
                bound[binding] = 1
        else:
            bound.update((name, "") for name in _bound_by(node))
    return bound


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[Binding]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            meaning = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            yield alias.asname or alias.name, meaning
        elif alias.asname:
            yield alias.asname, alias.name
        else:  # `import a.b` binds a
            name = alias.name.partition(".")[0]
            yield name, name


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a part of a program binds by itself, or makes unbound."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield node.name or ""  # `except Error:` and `case _:` bind none
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
