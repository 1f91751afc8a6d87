"""The sanitizer's invariants as its source describes them: it imports torch, which is not needed to read."""

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
    """The invariants of a sanitizer's folder, in their order; raises CatalogError where they are not found."""
    folder = sanitizer / "sanitizer_invariants"
    classes: dict[str, ast.ClassDef] = {}
    for path in sorted(folder.glob("*.py")):
        classes |= {
            node.name: node for node in _parsed(path).body if isinstance(node, ast.ClassDef)
        }
    return tuple(
        _described(name, classes, sanitizer) for name in _registered(folder / "__init__.py")
    )


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as error:
        raise CatalogError(f"{path}: cannot be read: {error}") from error


def _registered(path: Path) -> list[str]:
    """The names of the classes in the tuple ALL."""
    for names, value in _assignments(_parsed(path).body):
        if names == ["ALL"] and isinstance(value, ast.Tuple):
            return [each.id for each in value.elts if isinstance(each, ast.Name)]
    raise CatalogError(f"{path}: there is no ALL, a tuple of classes")


def _described(name: str, classes: Mapping[str, ast.ClassDef], sanitizer: Path) -> Invariant:
    if name not in classes:
        raise CatalogError(f"{sanitizer}: there is no class {name} in the folder invariants")
    values = _values(classes[name], classes)
    document = inspect.cleandoc(ast.get_docstring(classes[name]) or "")
    statement = " ".join(document.partition("\n\n")[0].split())
    return Invariant(values["NAME"], values["SEVERITY"], values["LIGHT"], statement)


def _values(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> dict[str, Any]:
    """The constants of a class, those of its bases included."""
    values: dict[str, Any] = {}
    for base in reversed(node.bases):
        if isinstance(base, ast.Name) and base.id in classes:
            values |= _values(classes[base.id], classes)
    for names, value in _assignments(node.body):
        each = value.elts if isinstance(value, ast.Tuple) and len(names) > 1 else [value]
        values |= {
            name: one.value
            for name, one in zip(names, each, strict=False)
            if isinstance(one, ast.Constant)
        }
    return values


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[list[str], ast.expr]]:
    """The names and the value of each assignment; those of a tuple have several."""
    for node in body:
        if isinstance(node, ast.Assign):
            (target,) = node.targets[:1]
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            yield [each.id for each in targets if isinstance(each, ast.Name)], node.value
