"""Fault patterns in the order of calls: zero_grad, backward and step left out, or in another order."""

import ast
from collections.abc import Callable, Iterator

from evaluation.planting.edits import (
    Block,
    Edit,
    Operator,
    calls,
    neighbour,
    removed,
    statement,
    with_calls,
)

ZERO_GRAD, STEP = "torch.optim.Optimizer.zero_grad", "torch.optim.Optimizer.step"


def _without_zero_grad(tree: ast.Module) -> Iterator[Edit]:
    for block, (place,) in with_calls(tree, "zero_grad"):
        yield Edit(neighbour(block, place), removed(block, place))


def _without_step(tree: ast.Module) -> Iterator[Edit]:
    for block, (_, place) in with_calls(tree, "backward", "step"):
        yield Edit(neighbour(block, place), removed(block, place))


def _moved(block: Block, place: int, to: int) -> Callable[[], None]:
    def move() -> None:
        block.insert(to, block.pop(place))

    return move


def _step_before_backward(tree: ast.Module) -> Iterator[Edit]:
    for block, (backward, step) in with_calls(tree, "backward", "step"):
        yield Edit(block[step].lineno, _moved(block, step, backward))


def _zero_grad_before_step(tree: ast.Module) -> Iterator[Edit]:
    for block, (zero_grad, _, step) in with_calls(tree, "zero_grad", "backward", "step"):
        yield Edit(block[zero_grad].lineno, _moved(block, zero_grad, step - 1))


def _evaluation_mode(tree: ast.Module) -> Iterator[Edit]:
    for block, (place,) in with_calls(tree, "train"):
        named = calls(block[place], "train")
        if named:
            yield Edit(block[place].lineno, _renamed(named, "eval"))


def _renamed(node: ast.Attribute, name: str) -> Callable[[], None]:
    def rename() -> None:
        node.attr = name

    return rename


def _break_left_in(tree: ast.Module) -> Iterator[Edit]:
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    for loop in loops:
        if any(calls(each, "backward") for each in loop.body):
            yield Edit(loop.body[-1].lineno, _appended(loop.body, "break"))


def _appended(block: Block, text: str) -> Callable[[], None]:
    def append() -> None:
        block.append(statement(text, block[-1]))

    return append


OPERATORS = (
    Operator("no-zero-grad", "zero_grad is left out", ZERO_GRAD, _without_zero_grad, iteration=2),
    Operator("no-step", "the optimizer's step is left out", STEP, _without_step),
    Operator("step-first", "step comes before backward", STEP, _step_before_backward),
    Operator("zero-grad-late", "zero_grad comes between backward and step", ZERO_GRAD, _zero_grad_before_step),
    Operator("evaluation-mode", "eval() in the place of train()", "torch.nn.Module.train", _evaluation_mode),
    Operator(
        "break-left-in", "a break left in from debugging: one batch an epoch", "break", _break_left_in,
        judged_by_loss=False,
    ),
)  # fmt: skip
