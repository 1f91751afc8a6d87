"""Twins rewritten: the same program by other names, in another order and layout,
with innocent statements in it.

What differs between them stays what it was.
"""

import ast
from collections.abc import Iterable, Mapping, Set
from difflib import SequenceMatcher

from evaluation.rewriting.filler import fill, statements
from evaluation.rewriting.layout import RewriteError, RewrittenText, parse_program, write_program
from evaluation.rewriting.names import (
    DEFINITIONS,
    Renaming,
    choose_names,
    identifiers,
    module_names,
)
from evaluation.rewriting.order import reorder


def rewrite(
    texts: Mapping[str, str],
    seed: int,
    kept_names: Set[str] = frozenset(),
    module: bool = False,
) -> dict[str, RewrittenText]:
    """The texts of a program and perhaps its twin, rewritten, by the same keys;
    the same for the same seed and texts.

    `kept_names` stay. In a `module`, which others import, the names at its top level stay, too.
    Raises RewriteError where that is not possible, also where the twins would differ in more than
    before.
    """
    tree_by_key = {key: parse_program(text) for key, text in texts.items()}
    trees = list(tree_by_key.values())
    before = difference(trees)
    stable = set(kept_names)
    if module:
        stable = stable.union(*map(module_names, trees))
    names = choose_names(trees, seed, stable)
    for tree in trees:
        Renaming(names).visit(tree)
    reorder(trees, seed)
    fill(trees, seed, stable.union(*map(_all_names, trees)))
    new_texts = [ast.unparse(ast.fix_missing_locations(tree)) for tree in trees]
    after = difference([ast.parse(text) for text in new_texts])
    if before != after:
        raise RewriteError(
            f"its variants differ in {before} statements, and would differ in {after}"
        )
    return {key: write_program(tree) for key, tree in tree_by_key.items()}


def difference(trees: Iterable[ast.Module]) -> int:
    """How many statements twins do not have in common; 0 for a program alone."""
    first, *twins = map(statements, trees)
    count = 0
    for twin in twins:
        matcher = SequenceMatcher(None, first, twin, autojunk=False)
        for tag, start, end, twin_start, twin_end in matcher.get_opcodes():
            if tag != "equal":
                count += max(end - start, twin_end - twin_start)
    return count


def names_to_keep(parameters: Iterable[str], probe: str | None, api: str) -> set[str]:
    """The names that a program keeps: its parameters, the names in its probe, and the site's API.

    Raises RewriteError for a probe that cannot be parsed.
    """
    names = {*parameters, *api.split(".")}
    if probe:
        parse_program(probe)
        names |= identifiers(probe)
    return names


def keywords(text: str) -> set[str]:
    """The names by which a program's calls give arguments;
    raises RewriteError for what cannot be parsed.
    """
    nodes = ast.walk(parse_program(text))
    return {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}


def _all_names(tree: ast.Module) -> set[str]:
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return names | {node.name for node in nodes if isinstance(node, DEFINITIONS)}
