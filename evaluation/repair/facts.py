"""What the text of a program says of its measurement, budget, data and output, for `refusals`."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from evaluation.repair.bindings import DEFINITIONS, Binding, count_bindings
from evaluation.repair.passes import Passes

COMPOUND = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.AsyncFor, ast.While, ast.If,
    ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
)  # fmt: skip
# What writes, or leads out of the process.
OUTPUT = {"print", "json", "open", "Path", "sys", "os", "records", "record", "shutil", "io"}
MEASURING = re.compile(r"valid|eval|test|measure|accura|score|metric|predict", re.IGNORECASE)
HELD_OUT = re.compile(r"valid|_val\b|\bval_|^val$|test|held", re.IGNORECASE)
DATA = {"Generator", "manual_seed", "TensorDataset", "Dataset", "default_rng", "linspace"}
WITHOUT_GRADIENTS = {"no_grad", "inference_mode", "eval"}


@dataclass(frozen=True)
class ProgramFacts:
    """A program's text, and what it says."""

    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The statements that hold no others."""
        return [
            node
            for node in self.nodes
            if isinstance(node, ast.stmt) and not isinstance(node, COMPOUND)
        ]

    @cached_property
    def imports(self) -> set[str]:
        """The names of the modules that are imported, up to the first dot."""
        roots: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                roots |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                roots.add((node.module or "").partition(".")[0])
        return roots

    @cached_property
    def imported_names(self) -> set[str]:
        """The names that import statements bind."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        return names

    @cached_property
    def bindings(self) -> Counter[Binding]:
        """How often each name is bound, by whatever binds names, at any depth."""
        return count_bindings(self.nodes)

    @cached_property
    def passes(self) -> Passes:
        return Passes(self.tree)

    @cached_property
    def plain_names(self) -> set[str]:
        """The names that stand alone."""
        return {node.id for node in self.nodes if isinstance(node, ast.Name)}

    @cached_property
    def attributes(self) -> set[str]:
        """The names behind dots."""
        return {node.attr for node in self.nodes if isinstance(node, ast.Attribute)}

    @cached_property
    def outputs(self) -> Counter[str]:
        """The statements that print, record or write."""
        return Counter(_text(item) for item in self.statements if names_in(item) & OUTPUT)

    @cached_property
    def config_reads(self) -> Counter[str]:
        """The keys of the configuration that are read."""
        keys = [
            _text(node.slice)
            for node in self.nodes
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == "config"
        ]
        return Counter(keys)

    @cached_property
    def config_uses(self) -> set[str]:
        """What is done with the configuration as a whole, other than to hand it to a function of
        the program.
        """
        uses: set[str] = set()
        handed = set(self._handed_by_name())
        for node in self.nodes:
            is_read = isinstance(node, ast.Subscript) and not _is_config(node.slice)
            if not is_read and node not in handed and not self._called_function(node):
                uses |= {_text(node) for part in ast.iter_child_nodes(node) if _is_config(part)}
        return uses

    def calls_without_config(self) -> Counter[str]:
        """How often each function of the program is called, and not given the configuration."""
        calls = [(self._called_function(node), node) for node in self.nodes]
        return Counter(
            name
            for name, node in calls
            if name and isinstance(node, ast.Call) and not _gets_config(node)
        )

    def takes_config(self) -> set[str]:
        """The functions of the program that are given the configuration."""
        return {
            name
            for node in self.nodes
            if isinstance(node, ast.Call) and _gets_config(node)
            if (name := self._called_function(node))
        }

    def _handed_by_name(self) -> Iterator[ast.keyword]:
        """The arguments with names of calls of the program's functions."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and self._called_function(node):
                yield from node.keywords

    def _called_function(self, node: ast.AST) -> str | None:
        """The name of the function or class of the program that is called here."""
        function = node.func if isinstance(node, ast.Call) else None
        is_ours = isinstance(function, ast.Name) and function.id in self._function_names
        return function.id if is_ours and isinstance(function, ast.Name) else None

    @cached_property
    def _function_names(self) -> set[str]:
        return {name.rpartition(".")[2] for name in self.definitions}

    @cached_property
    def loops(self) -> Counter[str]:
        """What the loops go over."""
        iterables = [_text(node.iter) for node in self.nodes if isinstance(node, ast.For)]
        tests = [_text(node.test) for node in self.nodes if isinstance(node, ast.While)]
        return Counter([*iterables, *tests])

    @cached_property
    def optimizers(self) -> Counter[str]:
        """The calls of what torch.optim has, by its name."""
        return Counter(
            name.rpartition(".")[2]
            for name in self._called
            if ".optim." in f".{name}" or name.rpartition(".")[2] in self._from_optim
        )

    @cached_property
    def _from_optim(self) -> set[str]:
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch.optim"):
                names |= {alias.asname or alias.name for alias in node.names}
        return names

    @cached_property
    def _called(self) -> list[str]:
        return [_text(node.func) for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def seeding(self) -> Counter[str]:
        """The calls that seed random numbers."""
        return Counter(
            _text(node)
            for node in self.nodes
            if isinstance(node, ast.Call) and _text(node.func).rpartition(".")[2] in SEEDING
        )

    @cached_property
    def held_out(self) -> set[str]:
        """The statements that use what is held out of the training."""
        return {
            _text(item) for item in self.statements if any(map(HELD_OUT.search, names_in(item)))
        }

    @cached_property
    def definitions(self) -> dict[str, str]:
        """The texts of functions, methods and classes, by their qualified names."""
        return {name: _text(node) for name, node in _definitions(self.tree, "")}

    @cached_property
    def classes(self) -> dict[str, list[str]]:
        """The bases of the classes, by the classes' qualified names."""
        return {
            name: list(map(_text, node.bases))
            for name, node in _definitions(self.tree, "")
            if isinstance(node, ast.ClassDef)
        }

    @cached_property
    def protected(self) -> dict[str, str]:
        """The definitions that measure, make data or are a model, by their qualified names."""
        return {
            name: _text(node)
            for name, node in _definitions(self.tree, "")
            if _measures(node) or _makes_data(node) or _is_model(node)
        }

    def names_of(self, definition: str) -> set[str]:
        """The names by which a program reaches a definition, of this qualified name: also those of
        the functions that hold it. A method is reached by its class.
        """
        names: set[str] = set()
        prefix = ""
        for name in definition.split("."):
            names.add(name)
            prefix = f"{prefix}.{name}" if prefix else name
            if prefix in self.classes:
                break
        return names

    @cached_property
    def recorded_names(self) -> set[str]:
        """The names whose values are printed or recorded; not what a backward pass begins at."""
        names: set[str] = set()
        for item in self.statements:
            if names_in(item) & OUTPUT:
                names |= names_in(item)
        return names - OUTPUT - self.imported_names - self.backward_names - {"config"}

    @cached_property
    def backward_names(self) -> set[str]:
        """The names on which `backward` is called, and what is called by steps."""
        names: set[str] = set()
        for node in self.nodes:
            function = node.func if isinstance(node, ast.Call) else None
            if isinstance(function, ast.Attribute) and function.attr in TRAINING:
                names |= names_in(function.value)
        return names

    def changes_of(self, names: Iterable[str]) -> set[str]:
        """The statements that bind one of these names, or change what it holds."""
        wanted = set(names)
        return {_text(item) for item in self.statements if _changed(item) & wanted}


TRAINING = ("backward", "step", "train", "parameters", "zero_grad")
SEEDING = ("manual_seed", "seed", "manual_seed_all", "default_rng", "Random")


# The twins of a case are looked at once for all of its patches.
@lru_cache(maxsize=8)
def parse(text: str) -> ProgramFacts:
    """The facts of a program; raises SyntaxError, or ValueError for a null character."""
    return ProgramFacts(ast.parse(text))


def names_in(node: ast.AST) -> set[str]:
    """The names that stand in a part of a program."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def root_name(node: ast.AST) -> str | None:
    """The name at which `a.b[0].c` begins."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _gets_config(call: ast.Call) -> bool:
    """Whether a call hands on the configuration as it is."""
    return any(map(_is_config, [*call.args, *(item.value for item in call.keywords)]))


def _is_config(node: ast.AST) -> bool:
    """Whether a part of a program is the configuration as a whole."""
    is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    return is_read and isinstance(node, ast.Name) and node.id == "config"


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that are bound."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _changed(item: ast.stmt) -> set[str]:
    """The names that a statement binds, or on which it calls something that changes it."""
    names = set(_stored(ast.walk(item)))
    for part in ast.walk(item):
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            names |= {root_name(part) or ""}
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            is_changing = part.func.attr in CHANGING or part.func.attr.endswith("_")
            names |= {root_name(part.func.value) or ""} if is_changing else set()
    return names - {""}


CHANGING = ("append", "extend", "insert", "update", "pop", "clear", "setdefault", "add", "remove")


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            name = f"{prefix}{child.name}"
            yield name, child
            yield from _definitions(child, f"{name}.")
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _definitions(child, prefix)


def _measures(node: ast.AST) -> bool:
    """Whether a function measures: by its name, or since it turns gradients off."""
    if not isinstance(node, ast.FunctionDef):
        return False
    if node.name == "main":
        return False
    attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return bool(MEASURING.search(node.name) or (attributes | names_in(node)) & WITHOUT_GRADIENTS)


def _makes_data(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.name in ("main", "forward"):
        return False
    attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return bool((attributes | names_in(node)) & DATA)


def _is_model(node: ast.AST) -> bool:
    """Whether a class is a module or a dataset."""
    return isinstance(node, ast.ClassDef) and any(
        _text(base).rpartition(".")[2] in ("Module", "Dataset", "IterableDataset")
        for base in node.bases
    )
