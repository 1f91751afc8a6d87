"""Calls that stand as statements of their own in the program's text: nobody gets their results."""

import ast
import os
import sys
import tokenize
import types
from pathlib import Path
from typing import NamedTuple

import torch

TORCH = (torch, torch.nn.functional)


class Statement(NamedTuple):
    """A call as a statement: its file and lines, what it is called on, and its name."""

    path: str
    first: int
    last: int
    owner: object
    name: str


def list_statements(is_looked_for):
    """The statements of the program's files that call a method or a function of torch of which
    `is_looked_for(owner, name)`; the owner of a method is torch.Tensor.
    """
    statements = []
    for path, module in list_files():
        for node in ast.walk(parse(path)):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                owner = find_owner(call.func.value, module)
                if is_looked_for(owner, call.func.attr):
                    lines = node.lineno, node.end_lineno
                    statements.append(Statement(path, *lines, owner, call.func.attr))
    return statements


def list_files():
    """The Python files below the script's folder that are imported, with their modules."""
    main = sys.modules.get("__main__")
    script = getattr(main, "__file__", None) or sys.argv[0]
    folder = os.path.abspath(os.path.dirname(script)) + os.sep  # noqa: PTH100, PTH120
    foreign = tuple(prefix + os.sep for prefix in {sys.prefix, sys.base_prefix})
    files = {}
    for module in [main, *sys.modules.values()]:
        path = getattr(module, "__file__", None)
        is_source = isinstance(path, str) and path.endswith(".py")
        path = os.path.abspath(path) if is_source else ""  # noqa: PTH100
        if path.startswith(folder) and not path.startswith(foreign) and "site-packages" not in path:
            files.setdefault(path, module)
    return list(files.items())


def parse(path):
    """The syntax tree of a file; an empty one where it cannot be read."""
    try:
        with tokenize.open(path) as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return ast.parse("")


def find_owner(node, module):
    """The module of torch that an expression names, or torch.Tensor where it names none."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return torch.Tensor
    value = vars(module).get(node.id)
    for name in reversed(names):
        value = getattr(value, name, None) if isinstance(value, types.ModuleType) else None
    return value if isinstance(value, types.ModuleType) else torch.Tensor


def has_line(statement, frame):
    """Whether a frame is at a statement."""
    is_there = statement.first <= frame.f_lineno <= statement.last
    return is_there and Path(frame.f_code.co_filename) == Path(statement.path)
