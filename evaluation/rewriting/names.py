"""New names for a program: which of its names may be changed without a change of what it does,
and into what.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Set

from evaluation.rewriting import choice

FIRST = (
    "amber", "birch", "cedar", "clay", "cobalt", "coral", "dusty", "early", "fern", "flint", "grey",
    "hazel", "ivory", "jade", "light", "maple", "misty", "mossy", "north", "ochre", "olive", "pale",
    "pearl", "plain", "quiet", "rapid", "russet", "sandy", "silver", "slate", "south", "steep",
    "stone", "tidal", "upper", "vivid", "white", "windy",
)  # fmt: skip
SECOND = (
    "anchor", "barrel", "basin", "basket", "bench", "bridge", "canal", "candle", "cellar", "copper",
    "corner", "drawer", "field", "garden", "gate", "harbour", "hill", "island", "kettle", "ladder",
    "lantern", "market", "meadow", "mill", "orchard", "paddle", "pillar", "pond", "quarry", "river",
    "saddle", "shelf", "spring", "thread", "tower", "valley", "wagon", "window",
)  # fmt: skip
# Functions by which a program can reach its variables by texts.
REFLECTION = frozenset({"globals", "locals", "vars", "eval", "exec", "dir"})
# Classes with a base of another name may have methods that a library calls by keyword.
PRIVATE_BASES = frozenset({"object", "Module", "Dataset", "IterableDataset", "Function"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


def choose_names(trees: Iterable[ast.Module], seed: int, kept_names: Set[str]) -> dict[str, str]:
    """New names by old ones, for all trees together; `kept_names` stay.

    A name is changed everywhere, or nowhere: attributes, keywords of calls, names that are
    imported, those of classes' bodies and of builtins stay.
    """
    used = set(dir(builtins)) | kept_names
    fixed = set(used)
    bound: set[str] = set()
    for tree in trees:
        collector = NameCollector()
        collector.collect(tree)
        used |= collector.used
        fixed |= collector.fixed
        bound |= collector.bound
    names: dict[str, str] = {}
    for old in sorted(bound - fixed):
        names[old] = _choose_name(old, seed, used)
        used.add(names[old])
    return names


def _choose_name(old: str, seed: int, used: Set[str]) -> str:
    attempt = 0
    while True:
        first = choice.pick(seed, FIRST, "first", old, attempt)
        second = choice.pick(seed, SECOND, "second", old, attempt)
        new = _in_style(old, (first, second))
        if new not in used:
            return new
        attempt += 1


def _in_style(old: str, words: tuple[str, str]) -> str:
    """The words as a name in the style of the old name: a constant, a class, or a variable."""
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
            node.id = self._new_name(node.id)
        elif isinstance(node, ast.arg):
            node.arg = self._new_name(node.arg)
        elif isinstance(node, DEFINITIONS):
            node.name = self._new_name(node.name)
        elif isinstance(node, ast.ExceptHandler):
            node.name = self._new_name(node.name) if node.name else None
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [self._new_name(name) for name in node.names]
        return super().generic_visit(node)

    def _new_name(self, name: str) -> str:
        return self.names.get(name, name)


class NameCollector(ast.NodeVisitor):
    """All identifiers of a program (`used`), those of its variables (`bound`),
    and those that stay (`fixed`).
    """

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.bound: set[str] = set()
        self.fixed: set[str] = set()

    def collect(self, tree: ast.Module) -> None:
        """Add the names of a program."""
        self.visit(tree)
        if reaches_by_text(tree):
            self.fixed |= words_in_texts(tree)
        for name in self.bound:
            if name.startswith("__") or name in ("_", "self", "cls"):
                self.fixed.add(name)
        self.used |= self.bound | self.fixed

    def visit_Name(self, node: ast.Name) -> None:
        names = self.used if isinstance(node.ctx, ast.Load) else self.bound
        names.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.used.add(node.attr)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        self.fixed |= {node.arg} if node.arg else set()
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.fixed |= {(node.asname or node.name).split(".")[0], *node.name.split(".")}

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
        self.fixed |= _body_names(node)
        methods = [statement for statement in node.body if isinstance(statement, FUNCTIONS)]
        for method in methods:
            parameters = _parameters(method)
            # A library may call the methods of other classes by keywords.
            self.fixed |= parameters & words_in_texts(node) if _is_private(node) else parameters
        self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> None:
        """Parameters; those with a default, and those by keyword only,
        are called by their names.
        """
        positional = [*node.posonlyargs, *node.args]
        with_default = positional[len(positional) - len(node.defaults) :]
        variadic = [argument for argument in (node.vararg, node.kwarg) if argument]
        self.fixed |= {argument.arg for argument in (*with_default, *node.kwonlyargs)}
        self.bound |= {argument.arg for argument in (*positional, *variadic)}
        self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        """An annotation in quotes is a text that names something."""
        self.fixed |= words_in_texts(node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.fixed |= words_in_texts(node.annotation)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.fixed |= {node.name} if node.name else set()
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.fixed |= {node.name} if node.name else set()

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.fixed |= {node.rest} if node.rest else set()
        self.generic_visit(node)


def reaches_by_text(tree: ast.AST) -> bool:
    """Whether a program may reach variables, or name arguments, by texts: vars(), f(**options)."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = [call.func for call in calls if isinstance(call.func, ast.Name)]
    by_keywords = any(keyword.arg is None for call in calls for keyword in call.keywords)
    return by_keywords or any(function.id in REFLECTION for function in functions)


def words_in_texts(tree: ast.AST) -> set[str]:
    """The words of all texts that could be names."""
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts = [constant for constant in constants if isinstance(constant, str)]
    return {word for text in texts for word in _words(text)}


def identifiers(text: str) -> set[str]:
    """Every name, attribute and text in a program:
    what another program must not lose where this one looks at it.
    """
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names | attributes | words_in_texts(tree)


def module_names(tree: ast.Module) -> set[str]:
    """The names that other modules see of this one."""
    return _body_names(tree)


def _body_names(node: ast.ClassDef | ast.Module) -> set[str]:
    """The names that the statements of a body bind there,
    and not within functions and classes in it.
    """
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
    spaced = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text)
    return [word for word in spaced.split() if word.isidentifier()]


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def _is_private(node: ast.ClassDef) -> bool:
    """Whether nobody but the program, and torch by position, calls its methods."""
    names = []
    for base in node.bases:
        attribute = getattr(base, "attr", "")
        names.append(attribute or getattr(base, "id", ""))
    return not node.keywords and all(name in PRIVATE_BASES for name in names)
