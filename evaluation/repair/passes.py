"""How often a program trains, as far as its text tells: on how many ways a step is reached, and in
how many loops, for `refusals`.

The functions that a step stands in count with all their calls, so that a loop around a call counts
as one around the step does. Where something else than a plain call may lead to a step, the text
does not tell how often it does: such a use is an odd one.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

# What trains, called as a method or as a function of torch.autograd.
TRAINING_CALLS = ("backward", "step", "grad")
LOOPS = (
    ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# The number of ways to a step, by the number of loops around it.
Ways = Counter[int]


@dataclass(frozen=True)
class Place:
    """Where a part of a program stands: in which function, and in how many loops of it.

    `in_class`: in the body of a class, outside of its methods. `is_odd`: the text does not tell how
    often it is reached.
    """

    function: str | None = None
    loops: int = 0
    in_class: bool = False
    is_odd: bool = False


@dataclass(frozen=True)
class Use:
    """A use of a function of the program, or of what trains."""

    name: str
    place: Place
    is_odd: bool


@dataclass(frozen=True)
class Passes:
    """The uses of what trains in a program."""

    tree: ast.Module

    @cached_property
    def uses(self) -> list[Use]:
        """The uses of all functions of the program, and of TRAINING_CALLS."""
        functions = {name for name, is_method in _functions(self.tree, False) if not is_method}
        methods = {name for name, is_method in _functions(self.tree, False) if is_method}
        return list(_uses(self.tree, Place(), functions, methods | {*TRAINING_CALLS}))

    @cached_property
    def training(self) -> set[str]:
        """The names of TRAINING_CALLS and of the functions that lead to one."""
        names = set(TRAINING_CALLS)
        while True:
            callers = {use.place.function for use in self.uses if use.name in names}
            if callers - {None} <= names:
                return names
            names |= {name for name in callers if name is not None}

    @cached_property
    def odd_uses(self) -> Counter[str]:
        """How often what trains is used in a way that does not tell how often it is called."""
        return Counter(use.name for use in self.uses if use.is_odd and use.name in self.training)

    def ways(self, name: str) -> Ways:
        """The ways that lead to calls of this name."""
        return self._ways(name, {None: Counter({0: 1})}, Counter())

    def _ways(self, name: str, known: dict[str | None, Ways], unused: Ways) -> Ways:
        """The ways to a function; `known` are the ways to its callers, and `unused` the ways of a
        function that nothing calls.
        """
        ways: Ways = Counter()
        uses = [use for use in self.uses if use.name == name]
        for use in uses:
            function = use.place.function
            if function not in known:
                known[function] = Counter({1: 1})  # for a function that calls itself: a loop
                known[function] = self._ways(function or "", known, Counter({0: 1}))
            for loops, count in known[function].items():
                ways[loops + use.place.loops] += count
        return ways if uses else unused


def more_ways(ways: Ways, *others: Ways) -> bool:
    """Whether there are more ways than in all others through as many loops, or more of them."""
    return any(_through(ways, loops) > _most_through(others, loops) for loops in ways)


def _most_through(others: Sequence[Ways], loops: int) -> int:
    return max(_through(other, loops) for other in others)


def _through(ways: Ways, loops: int) -> int:
    """The number of ways through so many loops, or more."""
    return sum(count for depth, count in ways.items() if depth >= loops)


def _functions(node: ast.AST, in_class: bool) -> Iterator[tuple[str, bool]]:
    """The functions of a program, and whether they are methods."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield child.name, in_class
        is_class = isinstance(child, ast.ClassDef)
        yield from _functions(child, is_class or (in_class and not isinstance(child, FUNCTIONS)))


def _uses(node: ast.AST, place: Place, functions: set[str], attributes: set[str]) -> Iterator[Use]:
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(node, FUNCTIONS):
        for _ in node.decorator_list:  # it may call the function as often as it likes
            yield Use(node.name, place, is_odd=True)
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if alias.name in TRAINING_CALLS:
                yield Use(alias.name, place, is_odd=True)
    for child in ast.iter_child_nodes(node):
        name = _name(child, functions, attributes)
        if name and (child is called or not _is_gradient(child)):
            yield Use(name, place, is_odd=place.is_odd or child is not called)
        yield from _uses(child, _inside(child, place), functions, attributes)


def _name(node: ast.AST, functions: set[str], attributes: set[str]) -> str | None:
    """The name of the function that a part of a program is; None where it is none."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in functions:
        return node.id
    if isinstance(node, ast.Attribute) and node.attr in attributes:
        return node.attr if isinstance(node.ctx, ast.Load) else None
    return None


def _is_gradient(node: ast.AST) -> bool:
    """Whether a part of a program is the gradient of a tensor, and not `torch.autograd.grad`."""
    if not isinstance(node, ast.Attribute) or node.attr != "grad":
        return False
    return not ast.unparse(node.value).endswith("autograd")


def _inside(node: ast.AST, place: Place) -> Place:
    """The place of what a part of a program at this place holds."""
    if isinstance(node, ast.ClassDef):
        return replace(place, in_class=True)
    if isinstance(node, FUNCTIONS):
        is_called_by_torch = node.name == "forward" or node.name.startswith("__")
        return Place(node.name, 0, is_odd=place.is_odd or (place.in_class and is_called_by_torch))
    if isinstance(node, ast.Lambda):
        return replace(place, is_odd=True)
    if isinstance(node, LOOPS):
        return replace(place, loops=place.loops + 1)
    return place
