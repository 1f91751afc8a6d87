"""Fault patterns in what a loss is computed from."""

import ast
from collections.abc import Callable, Iterator

from evaluation.planting.edits import (
    Edit,
    find_assignments,
    find_calls,
    last_name,
    replace_argument,
)

MODULES = frozenset(
    {"CrossEntropyLoss", "MSELoss", "NLLLoss", "BCEWithLogitsLoss", "L1Loss", "SmoothL1Loss"}
)
FUNCTIONS = frozenset({
    "cross_entropy", "mse_loss", "nll_loss", "binary_cross_entropy_with_logits", "l1_loss",
    "smooth_l1_loss",
})  # fmt: skip
WITHOUT_GRADIENTS = ("no_grad", "inference_mode")
SHAPE_CHANGES = ("unsqueeze", "squeeze", "flatten")


def softmax_first(tree: ast.Module) -> Iterator[Edit]:
    modules, functions = frozenset({"CrossEntropyLoss"}), frozenset({"cross_entropy"})
    for call in find_losses(tree, modules, functions):
        yield Edit(call.lineno, replace_argument(call, 0, "argument.softmax(1)"))


def labels_apart(tree: ast.Module) -> Iterator[Edit]:
    imports = [statement for statement in tree.body if isinstance(statement, ast.Import)]
    if not any(statement.names[0].name == "torch" for statement in imports):
        return
    for call in find_losses(tree, MODULES, FUNCTIONS):
        # Evaluated twice: only what is a plain value, or a part of one.
        if isinstance(call.args[1], ast.Name | ast.Subscript):
            shuffled = "argument[torch.randperm(len(argument))]"
            yield Edit(call.lineno, replace_argument(call, 1, shuffled))


def lost_unsqueeze(tree: ast.Module) -> Iterator[Edit]:
    """(prediction - target.unsqueeze(1)): each is compared with all."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
            continue
        right = node.right
        if isinstance(right, ast.Call) and last_name(right.func) in SHAPE_CHANGES:
            yield Edit(node.lineno, _drop_call(node, right))


def find_losses(
    tree: ast.Module, modules: frozenset[str], functions: frozenset[str]
) -> Iterator[ast.Call]:
    """The calls of loss functions with a prediction and a target, by position,
    that backward may be called on.

    What is computed without gradients is for the records only.
    """
    assignments = find_assignments(tree, lambda call: last_name(call.func) in modules)
    criteria = {name.id for _, _, name, _ in assignments}
    silent_parts = _find_parts_without_gradients(tree)
    silent = {id(call) for part in silent_parts for call in find_calls(part)}
    for call in find_calls(tree):
        is_criterion = isinstance(call.func, ast.Name) and call.func.id in criteria
        is_loss = is_criterion or last_name(call.func) in functions
        if is_loss and len(call.args) >= 2 and id(call) not in silent:
            yield call


def _find_parts_without_gradients(tree: ast.Module) -> Iterator[ast.AST]:
    """The functions and blocks in which torch records no gradients."""
    for node in ast.walk(tree):
        managers: list[ast.expr] = []
        if isinstance(node, ast.FunctionDef):
            managers = node.decorator_list
        elif isinstance(node, ast.With):
            managers = [item.context_expr for item in node.items]
        calls = [call for manager in managers for call in find_calls(manager)]
        if any(last_name(call.func) in WITHOUT_GRADIENTS for call in calls):
            yield node


def _drop_call(node: ast.BinOp, right: ast.Call) -> Callable[[], None]:
    def drop() -> None:
        assert isinstance(right.func, ast.Attribute)
        node.right = right.func.value

    return drop
