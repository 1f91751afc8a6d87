"""Fault patterns in what gets gradients, and in what is done with them."""

import ast
from collections.abc import Callable, Iterator

from evaluation.planting.edits import (
    Block,
    Edit,
    Operator,
    assigned,
    blocks,
    calls,
    expression,
    expressions,
    is_optimizer,
    statement,
    word,
)

DETACH, OPTIMIZER = "torch.Tensor.detach", "torch.optim.Optimizer.__init__"


def _backward(tree: ast.Module, of: str) -> Iterator[Edit]:
    """Edits that put another expression of the loss in the place of what backward is called on."""
    for block in blocks(tree):
        for each in block:
            named = calls(each, "backward")
            if named:
                yield Edit(each.lineno, _on_other(named, of))


def _on_other(named: ast.Attribute, of: str) -> Callable[[], None]:
    def put() -> None:
        named.value = expression(of, loss=named.value)

    return put


def _detached_loss(tree: ast.Module) -> Iterator[Edit]:
    return _backward(tree, "loss.detach().requires_grad_()")


def _negated_loss(tree: ast.Module) -> Iterator[Edit]:
    return _backward(tree, "(-loss)")


def _detached_body(tree: ast.Module) -> Iterator[Edit]:
    """self.head(self.body(x)): what the outer part is given is detached from the inner one."""
    for call in expressions(tree):
        if (
            _is_part(call.func)
            and call.args
            and any(_is_part(inner.func) for inner in expressions(call.args[0]))
        ):
            yield Edit(call.lineno, _other_argument(call, "given.detach()"))


def _is_part(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _other_argument(call: ast.Call, text: str) -> Callable[[], None]:
    def put() -> None:
        call.args[0] = expression(text, given=call.args[0])

    return put


def _head_only(tree: ast.Module) -> Iterator[Edit]:
    for _, _, _, call in assigned(tree, is_optimizer):
        yield Edit(call.lineno, _other_argument(call, "list(given)[-2:]"))


def _frozen_head(tree: ast.Module) -> Iterator[Edit]:
    for block, place, _, call in assigned(tree, is_optimizer):
        given = ast.unparse(call.args[0])
        text = f"for parameter in list({given})[-2:]:\n    parameter.requires_grad_(False)"
        yield Edit(call.lineno, _inserted(block, place, text))


def _stale_parameters(tree: ast.Module) -> Iterator[Edit]:
    """The model is copied after the optimizer was made, which holds the parameters of the former one."""
    for block, place, _, call in assigned(tree, is_optimizer):
        given = call.args[0]
        model = (
            given.func.value
            if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute)
            else None
        )
        if isinstance(model, ast.Name):
            yield Edit(call.lineno, _copied(tree, block, place, model.id))


def _copied(tree: ast.Module, block: Block, place: int, model: str) -> Callable[[], None]:
    def copy() -> None:
        block.insert(place + 1, statement(f"{model} = copy.deepcopy({model})", block[place]))
        first = next((number for number, each in enumerate(tree.body) if _imports(each)), 0)
        if not any(
            alias.name == "copy"
            for each in tree.body
            if isinstance(each, ast.Import)
            for alias in each.names
        ):
            tree.body.insert(first, statement("import copy", tree.body[first]))

    return copy


def _imports(node: ast.stmt) -> bool:
    """Whether it is an import before which another one may stand."""
    return isinstance(node, ast.Import) or (
        isinstance(node, ast.ImportFrom) and node.module != "__future__"
    )


def _inserted(block: Block, place: int, text: str) -> Callable[[], None]:
    def insert() -> None:
        block.insert(place, statement(text, block[place]))

    return insert


def _clipped_to_nothing(tree: ast.Module) -> Iterator[Edit]:
    for call in expressions(tree):
        if word(call.func) in ("clip_grad_norm_", "clip_grad_value_") and len(call.args) > 1:
            yield Edit(call.lineno, _second(call, "given * 0.0001"))


def _second(call: ast.Call, text: str) -> Callable[[], None]:
    def put() -> None:
        call.args[1] = expression(text, given=call.args[1])

    return put


OPERATORS = (
    Operator("detached-loss", "backward is called on a detached loss", DETACH, _detached_loss),
    Operator("negated-loss", "the loss is maximised", "torch.Tensor.backward", _negated_loss),
    Operator("detached-body", "a part of the network is detached from what comes before it", DETACH, _detached_body),
    Operator("head-only", "the optimizer is given the last layer alone", OPTIMIZER, _head_only),
    Operator("frozen-head", "the last layer takes no gradients", "torch.Tensor.requires_grad_", _frozen_head),
    Operator("stale-parameters", "the model is replaced after the optimizer was made", OPTIMIZER, _stale_parameters),
    Operator(
        "clipped-away", "gradients are clipped to a ten-thousandth", "torch.nn.utils.clip_grad_norm_",
        _clipped_to_nothing,
    ),
)  # fmt: skip
