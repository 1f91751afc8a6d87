"""The sanitizer's invariants as its source describes them: importing it would need torch."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from runner.errors import CatalogError


@dataclass(frozen=True)
class Invariant:
    """The name, severity and statement of an invariant, and whether it is one of the light ones."""

    name: str
    severity: str
    light: bool
    statement: str


@cache
def read(sanitizer: Path) -> tuple[Invariant, ...]:
    """The invariants of a sanitizer's folder, in their order;
    raises CatalogError if the source lacks one.
    """
    folder = sanitizer / "sanitizer_invariants"
    order = _read_order(folder / "__init__.py")
    invariants = _read_invariants(folder)
    missing = [name for name in order if name not in invariants]
    if missing:
        raise CatalogError(f"{folder}: there is no invariant {missing[0]!r}, which is in its ORDER")
    return tuple(invariants[name] for name in order)


def _read_order(path: Path) -> list[str]:
    """The names in the tuple ORDER."""
    for names, value in _assignments(_parse(path).body):
        if names == ["ORDER"] and isinstance(value, ast.Tuple):
            constants = [item.value for item in value.elts if isinstance(item, ast.Constant)]
            return [name for name in constants if isinstance(name, str)]
    raise CatalogError(f"{path}: there is no ORDER, a tuple of names of invariants")


def _read_invariants(folder: Path) -> dict[str, Invariant]:
    """All invariants below a folder, by name."""
    classes: dict[str, ast.ClassDef] = {}
    for path in sorted(folder.rglob("*.py")):
        body = _parse(path).body
        classes |= {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    invariants = {}
    for node in classes.values():
        constants = _constants(node, classes)
        if "NAME" in constants:
            invariant = _describe(node, constants)
            invariants[invariant.name] = invariant
    return invariants


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as error:
        raise CatalogError(f"{path}: cannot be read: {error}") from error


def _describe(node: ast.ClassDef, constants: Mapping[str, Any]) -> Invariant:
    document = inspect.cleandoc(ast.get_docstring(node) or "")
    statement = " ".join(document.partition("\n\n")[0].split())
    return Invariant(constants["NAME"], constants["SEVERITY"], constants["LIGHT"], statement)


def _constants(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> dict[str, Any]:
    """The constants of a class, those of its bases included."""
    constants: dict[str, Any] = {}
    for base in reversed(node.bases):
        if isinstance(base, ast.Name) and base.id in classes:
            constants |= _constants(classes[base.id], classes)
    for names, value in _assignments(node.body):
        values = [value]
        if isinstance(value, ast.Tuple) and len(names) > 1:
            values = value.elts
        for name, constant in zip(names, values, strict=False):
            if isinstance(constant, ast.Constant):
                constants[name] = constant.value
    return constants


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[list[str], ast.expr]]:
    """The names and the value of each assignment; an assignment to a tuple has several names."""
    for node in body:
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            names = [element.id for element in targets if isinstance(element, ast.Name)]
            yield names, node.value
