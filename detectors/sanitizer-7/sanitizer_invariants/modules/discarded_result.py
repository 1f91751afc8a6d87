"""What is computed is used."""

import ast
import functools
import sys

import torch

from sanitizer_invariants.tools.hooks import is_compiling, skip_code
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.statements import (
    TORCH,
    Statement,
    has_line,
    list_files,
    list_statements,
    parse,
)

ITERATIONS = 3
KINDS = {"__add__": ast.Add, "__mul__": ast.Mult, "__truediv__": ast.Div}
OPERATORS = {"__add__": "+", "__mul__": "*", "__truediv__": "/"}


class DiscardedResult(Invariant):
    """The result of a function that changes no tensor is not thrown away.

    Why: `scores.masked_fill(mask, -inf)`, `weight.data.clamp(-1, 1)` and `hidden.detach()` give new
    tensors, and leave those that they are called on as they were. As a statement such a call does
    nothing; `masked_fill_` writes in place. The same is true of functions of torch and
    `torch.nn.functional`, as `F.dropout(x)`.

    Of methods that have a twin which writes in place, and functions that give a new tensor for a
    tensor, and of `+`, `*` and `/`; called as statements of their own, in three iterations, in
    files below the script's folder that were imported before the first step.

    Excepted: what writes in place or to `out=`, and results that are their argument.

    Cost: a search through the program's text before the first step, and a look at the line for each
    call of a function that stands somewhere as a statement.
    """

    NAME = "discarded-result"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.is_begun, self.iterations = False, {}

    def before_step(self, optimizer):
        if self.is_begun:
            return
        self.is_begun = True
        places = {}
        for statement in [*list_statements(is_pure), *list_operations()]:
            places.setdefault((statement.owner, statement.name), []).append(statement)
        for (owner, name), statements in places.items():
            bare = getattr(owner, name)
            setattr(owner, name, watch_discards(bare, statements, self._note, self.program))

    def _note(self, statement):
        iterations = self.iterations.setdefault(statement, set())
        iterations.add(self.program.iteration)
        if len(iterations) == ITERATIONS:
            sign = OPERATORS.get(statement.name)
            is_method = statement.owner is torch.Tensor and sign is None
            owner = "torch.Tensor" if is_method or sign else statement.owner.__name__
            cure = f" (`{statement.name}_` writes in place)" if is_method else ""
            self.report(
                f"`{sign or statement.name}` changes no tensor, and the new one that it gives is "
                f"thrown away{cure}",
                api=f"{owner}.{statement.name}",
            )


def list_operations():
    """The statements of the program's files that compute with an operator, and nothing else."""
    names = {kind: name for name, kind in KINDS.items()}
    operations = []
    for path, _ in list_files():
        for node in ast.walk(parse(path)):
            operation = node.value if isinstance(node, ast.Expr) else None
            name = names.get(type(getattr(operation, "op", None)))
            if isinstance(operation, ast.BinOp) and name is not None:
                lines = node.lineno, node.end_lineno
                operations.append(Statement(path, *lines, torch.Tensor, name))
    return operations


def is_pure(owner, name):
    """Whether a call gives a new tensor, as far as its name tells."""
    if name.startswith("_") or name.endswith("_") or not callable(getattr(owner, name, None)):
        return False
    return hasattr(torch.Tensor, f"{name}_") if owner is torch.Tensor else owner in TORCH


def watch_discards(bare, statements, note, program):
    """A function, with its calls from these statements told."""

    @functools.wraps(bare)
    def call(*arguments, **options):
        result = bare(*arguments, **options)
        if is_compiling() or program.is_hidden or not isinstance(result, torch.Tensor):
            return result
        frame = sys._getframe(1)
        values = [*arguments, *options.values()]
        is_new = any(isinstance(value, torch.Tensor) for value in values)
        is_new = is_new and not any(result is value for value in values)
        for statement in statements if is_new else ():
            if has_line(statement, frame):
                note(statement)
        return result

    skip_code(call.__code__)
    return call
