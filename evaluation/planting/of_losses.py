"""Fault patterns in what a loss is computed from."""

import ast
from collections.abc import Callable, Iterator

from evaluation.planting.edits import Edit, Operator, assigned, expression, expressions, word

CROSS_ENTROPY = "torch.nn.functional.cross_entropy"
MODULES = frozenset(
    {"CrossEntropyLoss", "MSELoss", "NLLLoss", "BCEWithLogitsLoss", "L1Loss", "SmoothL1Loss"}
)
FUNCTIONS = frozenset({
    "cross_entropy", "mse_loss", "nll_loss", "binary_cross_entropy_with_logits", "l1_loss", "smooth_l1_loss",
})  # fmt: skip


def _losses(
    tree: ast.Module, modules: frozenset[str], functions: frozenset[str]
) -> Iterator[ast.Call]:
    """The calls of loss functions with a prediction and a target, by position, that backward may be called on.

    What is computed without gradients is for the records only.
    """
    named = {name.id for _, _, name, _ in assigned(tree, lambda call: word(call.func) in modules)}
    silent = {id(call) for part in _without_gradients(tree) for call in expressions(part)}
    for call in expressions(tree):
        own = isinstance(call.func, ast.Name) and call.func.id in named
        if (own or word(call.func) in functions) and len(call.args) >= 2 and id(call) not in silent:
            yield call


def _without_gradients(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        marks = getattr(node, "decorator_list", []) if isinstance(node, ast.FunctionDef) else []
        marks = marks or (
            [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
        )
        if any(
            word(each.func) in ("no_grad", "inference_mode")
            for mark in marks
            for each in expressions(mark)
        ):
            yield node


def _softmax_first(tree: ast.Module) -> Iterator[Edit]:
    for call in _losses(tree, frozenset({"CrossEntropyLoss"}), frozenset({"cross_entropy"})):
        yield Edit(call.lineno, _other(call, 0, "given.softmax(1)"))


def _labels_apart(tree: ast.Module) -> Iterator[Edit]:
    if not any(
        isinstance(each, ast.Import) and each.names[0].name == "torch" for each in tree.body
    ):
        return
    for call in _losses(tree, MODULES, FUNCTIONS):
        # Evaluated twice: only what is a plain value, or a part of one.
        if isinstance(call.args[1], ast.Name | ast.Subscript):
            yield Edit(call.lineno, _other(call, 1, "given[torch.randperm(len(given))]"))


def _other(call: ast.Call, index: int, text: str) -> Callable[[], None]:
    def put() -> None:
        call.args[index] = expression(text, given=call.args[index])

    return put


def _lost_unsqueeze(tree: ast.Module) -> Iterator[Edit]:
    """(prediction - target.unsqueeze(1)): each is compared with all."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            side = node.right
            if isinstance(side, ast.Call) and word(side.func) in (
                "unsqueeze",
                "squeeze",
                "flatten",
            ):
                yield Edit(node.lineno, _without_call(node, side))


def _without_call(node: ast.BinOp, side: ast.Call) -> Callable[[], None]:
    def drop() -> None:
        assert isinstance(side.func, ast.Attribute)
        node.right = side.func.value

    return drop


OPERATORS = (
    Operator(
        "softmax-first", "softmax before cross entropy, which takes logits", CROSS_ENTROPY, _softmax_first,
        judged_by_loss=False,
    ),
    Operator("labels-apart", "labels are shuffled apart from the inputs", "torch.randperm", _labels_apart),
    Operator(
        "broadcast", "shapes that differ by one dimension are broadcast", "torch.Tensor.sub", _lost_unsqueeze,
        judged_by_loss=False,
    ),
)  # fmt: skip
