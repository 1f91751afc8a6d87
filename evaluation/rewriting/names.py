"""New names for a program: which of its names may be changed without a change of what it does, and into what."""

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Set

from evaluation.rewriting import choice

FIRST = (
    "amber", "birch", "cedar", "clay", "cobalt", "coral", "dusty", "early", "fern", "flint", "grey", "hazel", "ivory",
    "jade", "light", "maple", "misty", "mossy", "north", "ochre", "olive", "pale", "pearl", "plain", "quiet", "rapid",
    "russet", "sandy", "silver", "slate", "south", "steep", "stone", "tidal", "upper", "vivid", "white", "windy",
)  # fmt: skip
SECOND = (
    "anchor", "barrel", "basin", "basket", "bench", "bridge", "canal", "candle", "cellar", "copper", "corner", "drawer",
    "field", "garden", "gate", "harbour", "hill", "island", "kettle", "ladder", "lantern", "market", "meadow", "mill",
    "orchard", "paddle", "pillar", "pond", "quarry", "river", "saddle", "shelf", "spring", "thread", "tower", "valley",
    "wagon", "window",
)  # fmt: skip
# With one of these a program can reach its variables by texts.
REFLECTION = frozenset({"globals", "locals", "vars", "eval", "exec", "dir"})
# Classes with a base of another name may have methods that a library calls by keyword.
OWN_BASES = frozenset({"object", "Module", "Dataset", "IterableDataset", "Function"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


def new_names(trees: Iterable[ast.Module], seed: int, kept: Set[str]) -> dict[str, str]:
    """New names by old ones, for all trees together; `kept` are names that stay.

    A name is changed everywhere, or nowhere: attributes, keywords of calls, names that are imported, those of classes'
    bodies and of builtins stay.
    """
    found = [_Names.of(tree) for tree in trees]
    seen = {name for each in found for name in each.seen} | set(dir(builtins)) | kept
    barred = {name for each in found for name in each.barred} | set(dir(builtins)) | kept
    names: dict[str, str] = {}
    for old in sorted({name for each in found for name in each.bound} - barred):
        names[old] = _new(old, seed, seen)
        seen.add(names[old])
    return names


def _new(old: str, seed: int, taken: Set[str]) -> str:
    attempt = 0
    while True:
        words = (
            choice.one(seed, FIRST, "first", old, attempt),
            choice.one(seed, SECOND, "second", old, attempt),
        )
        new = _in_style_of(old, words)
        if new not in taken:
            return new
        attempt += 1


def _in_style_of(old: str, words: tuple[str, str]) -> str:
    if old.isupper() and len(old) > 1:
        return "_".join(words).upper()
    if old[0].isupper() and len(old) > 1:
        return "".join(word.capitalize() for word in words)
    return "_".join(words)


class Renaming(ast.NodeTransformer):
    """Puts new names into a tree."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Change every field that holds a variable's name."""
        if isinstance(node, ast.Name):
            node.id = self._new(node.id)
        elif isinstance(node, ast.arg):
            node.arg = self._new(node.arg)
        elif isinstance(node, DEFINITIONS):
            node.name = self._new(node.name)
        elif isinstance(node, ast.ExceptHandler):
            node.name = self._new(node.name) if node.name else None
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [self._new(name) for name in node.names]
        return super().generic_visit(node)

    def _new(self, name: str) -> str:
        return self.names.get(name, name)


class _Names(ast.NodeVisitor):
    """All identifiers of a program (`seen`), those of its variables (`bound`), and those that stay (`barred`)."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.bound: set[str] = set()
        self.barred: set[str] = set()

    @classmethod
    def of(cls, tree: ast.Module) -> "_Names":
        names = cls()
        names.visit(tree)
        if reaches_by_text(tree):
            names.barred |= texts(tree)
        names.barred |= {
            name for name in names.bound if name.startswith("__") or name in ("_", "self", "cls")
        }
        names.seen |= names.bound | names.barred
        return names

    def visit_Name(self, node: ast.Name) -> None:
        (self.seen if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.seen.add(node.attr)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        self.barred |= {node.arg} if node.arg else set()
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.barred |= {(node.asname or node.name).split(".")[0], *node.name.split(".")}

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bound |= {node.name} if node.name else set()
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        self.barred |= _of_body(node)
        for method in (each for each in node.body if isinstance(each, FUNCTIONS)):
            self.barred |= _parameters(method) & (
                texts(node) if _is_own(node) else _parameters(method)
            )
        self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> None:
        """Parameters; those with a default, and those by keyword only, are called by their names."""
        positional = [*node.posonlyargs, *node.args]
        with_default = positional[len(positional) - len(node.defaults) :]
        self.barred |= {each.arg for each in (*with_default, *node.kwonlyargs)}
        self.bound |= {each.arg for each in (*positional, node.vararg, node.kwarg) if each}
        self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        """An annotation in quotes is a text that names something."""
        self.barred |= texts(node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.barred |= texts(node.annotation)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.barred |= {node.name} if node.name else set()
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.barred |= {node.name} if node.name else set()

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.barred |= {node.rest} if node.rest else set()
        self.generic_visit(node)


def reaches_by_text(tree: ast.AST) -> bool:
    """Whether a program may reach variables, or name arguments, by texts: vars(), f(**options)."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    by_keywords = any(keyword.arg is None for call in calls for keyword in call.keywords)
    return by_keywords or any(
        isinstance(call.func, ast.Name) and call.func.id in REFLECTION for call in calls
    )


def texts(tree: ast.AST) -> set[str]:
    """The words of all texts that could be names."""
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {word for text in constants if isinstance(text, str) for word in _words(text)}


def identifiers(text: str) -> set[str]:
    """Every name, attribute and text in a program: what another program must not lose where this one looks at it."""
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return (
        names
        | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        | texts(tree)
    )


def of_module(tree: ast.Module) -> set[str]:
    """The names that other modules see of this one."""
    return _of_body(tree)


def _of_body(node: ast.ClassDef | ast.Module) -> set[str]:
    """The names that the statements of a body bind there, and not within functions and classes in it."""
    return {name for statement in node.body for name in _bound_by(statement)}


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        else:
            todo += ast.iter_child_nodes(node)


def _words(text: str) -> list[str]:
    return [
        word
        for word in "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
        if word.isidentifier()
    ]


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def _is_own(node: ast.ClassDef) -> bool:
    """Whether nobody but the program, and torch by position, calls its methods."""
    names = [
        base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        for base in node.bases
    ]
    return not node.keywords and all(name in OWN_BASES for name in names)
