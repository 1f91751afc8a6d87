"""Fault patterns in the order of calls: zero_grad, backward and step left out,
or in another order.
"""

import ast
from collections.abc import Callable, Iterator

from evaluation.planting.edits import (
    Block,
    Edit,
    find_sequences,
    method_of,
    neighbour_line,
    new_statement,
    remove_statement,
    rename_function,
)


def leave_out_zero_grad(tree: ast.Module) -> Iterator[Edit]:
    for block, (place,) in find_sequences(tree, "zero_grad"):
        yield Edit(neighbour_line(block, place), remove_statement(block, place))


def leave_out_step(tree: ast.Module) -> Iterator[Edit]:
    for block, (_, place) in find_sequences(tree, "backward", "step"):
        yield Edit(neighbour_line(block, place), remove_statement(block, place))


def step_before_backward(tree: ast.Module) -> Iterator[Edit]:
    for block, (backward, step) in find_sequences(tree, "backward", "step"):
        yield Edit(block[step].lineno, _move(block, step, backward))


def zero_grad_before_step(tree: ast.Module) -> Iterator[Edit]:
    for block, (zero_grad, _, step) in find_sequences(tree, "zero_grad", "backward", "step"):
        yield Edit(block[zero_grad].lineno, _move(block, zero_grad, step - 1))


def evaluation_mode(tree: ast.Module) -> Iterator[Edit]:
    for block, (place,) in find_sequences(tree, "train"):
        method = method_of(block[place], "train")
        if method:
            yield Edit(block[place].lineno, rename_function(method, "eval"))


def break_left_in(tree: ast.Module) -> Iterator[Edit]:
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    for loop in loops:
        if any(method_of(statement, "backward") for statement in loop.body):
            yield Edit(loop.body[-1].lineno, _append(loop.body, "break"))


def _move(block: Block, place: int, new_place: int) -> Callable[[], None]:
    def move() -> None:
        block.insert(new_place, block.pop(place))

    return move


def _append(block: Block, text: str) -> Callable[[], None]:
    def append() -> None:
        block.append(new_statement(text, block[-1]))

    return append
