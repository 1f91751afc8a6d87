"""Fault patterns in what gets gradients, and in what is done with them."""

import ast
from collections.abc import Callable, Iterator

from evaluation.planting.edits import (
    Block,
    Edit,
    find_assignments,
    find_blocks,
    find_calls,
    insert_statement,
    is_optimizer,
    last_name,
    method_of,
    new_expression,
    new_statement,
    replace_argument,
)

CLIPS = ("clip_grad_norm_", "clip_grad_value_")


def detached_loss(tree: ast.Module) -> Iterator[Edit]:
    return _backward_of(tree, "loss.detach().requires_grad_()")


def negated_loss(tree: ast.Module) -> Iterator[Edit]:
    return _backward_of(tree, "(-loss)")


def detached_body(tree: ast.Module) -> Iterator[Edit]:
    """self.head(self.body(x)): what the outer part is given is detached from the inner one."""
    for call in find_calls(tree):
        if not call.args or not _is_part(call.func):
            continue
        inner_calls = find_calls(call.args[0])
        if any(_is_part(inner.func) for inner in inner_calls):
            yield Edit(call.lineno, replace_argument(call, 0, "argument.detach()"))


def head_only(tree: ast.Module) -> Iterator[Edit]:
    for _, _, _, call in find_assignments(tree, is_optimizer):
        yield Edit(call.lineno, replace_argument(call, 0, "list(argument)[-2:]"))


def frozen_head(tree: ast.Module) -> Iterator[Edit]:
    for block, place, _, call in find_assignments(tree, is_optimizer):
        parameters = ast.unparse(call.args[0])
        text = f"for parameter in list({parameters})[-2:]:\n    parameter.requires_grad_(False)"
        yield Edit(call.lineno, insert_statement(block, place, text))


def stale_parameters(tree: ast.Module) -> Iterator[Edit]:
    """The model is copied after the optimizer was made,
    which holds the parameters of the former one.
    """
    for block, place, _, call in find_assignments(tree, is_optimizer):
        parameters = call.args[0]
        if not isinstance(parameters, ast.Call) or not isinstance(parameters.func, ast.Attribute):
            continue
        model = parameters.func.value
        if isinstance(model, ast.Name):
            yield Edit(call.lineno, _copy_model(tree, block, place, model.id))


def clipped_to_nothing(tree: ast.Module) -> Iterator[Edit]:
    for call in find_calls(tree):
        if last_name(call.func) in CLIPS and len(call.args) > 1:
            yield Edit(call.lineno, replace_argument(call, 1, "argument * 0.0001"))


def _backward_of(tree: ast.Module, text: str) -> Iterator[Edit]:
    """Edits that call backward of another expression of the loss."""
    for block in find_blocks(tree):
        for statement in block:
            method = method_of(statement, "backward")
            if method:
                yield Edit(statement.lineno, _replace_receiver(method, text))


def _replace_receiver(method: ast.Attribute, text: str) -> Callable[[], None]:
    def replace() -> None:
        method.value = new_expression(text, loss=method.value)

    return replace


def _is_part(node: ast.expr) -> bool:
    """Whether it is an attribute of self."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == "self"


def _copy_model(tree: ast.Module, block: Block, place: int, model: str) -> Callable[[], None]:
    def copy() -> None:
        block.insert(place + 1, new_statement(f"{model} = copy.deepcopy({model})", block[place]))
        first = _first_import(tree)
        if not _imports_copy(tree):
            tree.body.insert(first, new_statement("import copy", tree.body[first]))

    return copy


def _first_import(tree: ast.Module) -> int:
    """The place of the first import before which another one may stand; 0 where there is none."""
    for number, statement in enumerate(tree.body):
        if isinstance(statement, ast.Import):
            return number
        if isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
            return number
    return 0


def _imports_copy(tree: ast.Module) -> bool:
    imports = [statement for statement in tree.body if isinstance(statement, ast.Import)]
    return any(alias.name == "copy" for statement in imports for alias in statement.names)
