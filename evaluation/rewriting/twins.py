"""Twins rewritten: the same program by other names, in another order and layout, with innocent statements in it.

What differs between them stays what it was.
"""

import ast
from collections.abc import Iterable, Mapping, Set
from difflib import SequenceMatcher

from evaluation.rewriting.filler import fill, statements
from evaluation.rewriting.layout import RewriteError, Text, parsed, written
from evaluation.rewriting.names import DEFINITIONS, Renaming, identifiers, new_names, of_module
from evaluation.rewriting.order import reorder


def rewrite(
    texts: Mapping[str, str], seed: int, kept: Set[str] = frozenset(), module: bool = False
) -> dict[str, Text]:
    """The texts of a program and perhaps its twin, rewritten, by the same keys; the same for the same seed and texts.

    `kept` are names that stay. Of a `module`, which others import, so do the names at its top level. Raises
    RewriteError where that is not possible, also where the twins would differ in more than before.
    """
    trees = {key: parsed(text) for key, text in texts.items()}
    order = list(trees.values())
    before = difference(order)
    stay = set(kept)
    for tree in order if module else ():
        stay |= of_module(tree)
    names = new_names(order, seed, stay)
    for tree in order:
        Renaming(names).visit(tree)
    reorder(order, seed)
    fill(order, seed, {name for tree in order for name in _all_names(tree)} | stay)
    after = difference([ast.parse(ast.unparse(ast.fix_missing_locations(tree))) for tree in order])
    if before != after:
        raise RewriteError(
            f"its variants differ in {before} statements, and would differ in {after}"
        )
    return {key: written(tree) for key, tree in trees.items()}


def difference(trees: Iterable[ast.Module]) -> int:
    """How many statements twins do not have in common; 0 of a program alone."""
    first, *others = map(statements, trees)
    matchers = [SequenceMatcher(None, first, other, autojunk=False) for other in others]
    return sum(
        max(a_end - a, b_end - b)
        for matcher in matchers
        for tag, a, a_end, b, b_end in matcher.get_opcodes()
        if tag != "equal"
    )


def kept_for(parameters: Iterable[str], probe: str | None, api: str) -> set[str]:
    """The names that a program keeps: those of its parameters, what its probe looks at, and the site's.

    Raises RewriteError for a probe that cannot be parsed.
    """
    if probe:
        parsed(probe)
    return {*parameters, *(identifiers(probe) if probe else ()), *api.split(".")}


def keywords(text: str) -> set[str]:
    """The names by which a program's calls give arguments; raises RewriteError for what cannot be parsed."""
    return {
        node.arg for node in ast.walk(parsed(text)) if isinstance(node, ast.keyword) and node.arg
    }


def _all_names(tree: ast.Module) -> set[str]:
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return names | {node.name for node in nodes if isinstance(node, DEFINITIONS)}
