"""Cures of what is done with gradients between a backward pass and a step."""

import ast

from templates.names import (
    backwards,
    last_name,
    method_call,
    only,
    optimizers,
    receiver,
    stepped,
    steps,
)
from templates.program import LOOPS, Edit, NoCureError, Program

CLIPS = {"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value"}


def clear_gradients(program: Program, line: int) -> list[Edit]:
    """Call zero_grad() before the first backward pass of a step, or behind the step."""
    backward = _backward_at(program, line)
    block = program.block(backward)
    in_block = [item for item in steps(program, program.tree) if item in block]
    later = [item for item in in_block if item.lineno > backward.lineno]
    if later:
        first = min(backwards(ast.Module(block, [])), key=lambda item: item.lineno)
        if first not in block:
            raise NoCureError("the first backward pass stands in another block than the step")
        return [program.before(first, f"{stepped(item)}.zero_grad()") for item in later]
    outer = _steps_around(program, backward)
    return [program.after(item, f"{stepped(item)}.zero_grad()") for item in outer]


def order_of_calls(program: Program, line: int) -> list[Edit]:
    """Put zero_grad() before backward(), and step() behind it."""
    statement = program.statement_at(line)
    block = program.block(statement)
    backward = _last(backwards(ast.Module(block, [])), block, "backward pass")
    clears = [item for item in block if method_call(item, "zero_grad")]
    late = [item for item in clears if item.lineno > backward.lineno]
    step = _last(steps(program, ast.Module(block, [])), block, "step")
    edits: list[Edit] = []
    if step.lineno < backward.lineno:
        return program.move_after(step, backward)
    for item in late:
        if item.lineno < step.lineno:
            edits += program.move_before(item, backward)
    if not edits:
        raise NoCureError("zero_grad, backward and step stand in their order")
    return edits


def clear_behind_steps(program: Program, line: int) -> list[Edit]:
    """Call zero_grad() behind each step, and not in each pass that is accumulated."""
    statement = program.statement_at(line)
    clears = [item for item in _statements(program) if method_call(item, "zero_grad")]
    function = program.function(statement)
    inner = [item for item in clears if program.function(item) is function]
    passes = [item for item in backwards(function) if program.above(item, LOOPS)]
    if not passes or not inner:
        raise NoCureError("no zero_grad() stands in a loop with a backward pass")
    outer = _steps_around(program, passes[0])
    edits = [program.remove(item) for item in inner]
    return edits + [program.after(item, f"{stepped(item)}.zero_grad()") for item in outer]


def keep_parameters(program: Program, line: int) -> list[Edit]:
    """Make a list of the generator of parameters that is clipped more than once."""
    clip = _clip_at(program, line)
    assert isinstance(clip.value, ast.Call)
    name = program.source(clip.value.args[0])
    edits = [
        program.replace(item.value, f"list({program.source(item.value)})")
        for item in program.assignments()
        if program.source(item.targets[0]) == name and not _is_list(item.value)
    ]
    if not edits:
        raise NoCureError("what is clipped is not bound to a name in the program")
    return edits


def clip_before_step(program: Program, line: int) -> list[Edit]:
    """Move the clipping directly before the step."""
    clip = _clip_at(program, line)
    block = program.block(clip)
    step = _last(steps(program, ast.Module(block, [])), block, "step")
    passes = [item for item in backwards(ast.Module(block, [])) if item.lineno < step.lineno]
    if not passes:
        raise NoCureError("no backward pass comes before the step")
    return program.move_before(clip, step)


def unscale_before_clip(program: Program, line: int) -> list[Edit]:
    """Call scaler.unscale_(optimizer) before the clipping."""
    clip = _clip_at(program, line)
    block = program.block(clip)
    for item in steps(program, ast.Module(block, [])):
        assert isinstance(item.value, ast.Call)
        if item.value.args:
            scaler = program.source(receiver(item.value))
            return [program.before(clip, f"{scaler}.unscale_({stepped(item)})")]
    raise NoCureError("no scaler steps in the block of the clipping")


def add_step(program: Program, line: int) -> list[Edit]:
    """Call the optimizer's step() behind the backward pass."""
    without = [item for item in optimizers(program) if item.name not in _stepped(program)]
    name = only(without, "optimizer that never steps").name
    passes = [item for item in backwards(program.tree) if program.above(item, LOOPS)]
    if len(passes) != 1:
        raise NoCureError(f"there are {len(passes)} backward passes in loops")
    clips = [item for item in program.block(passes[0]) if _is_clip(item)]
    last = max([passes[0], *clips], key=lambda item: item.lineno)
    return [program.after(last, f"{name}.step()")]


def _stepped(program: Program) -> set[str]:
    return {stepped(item) for item in steps(program, program.tree)}


def make_optimizer_later(program: Program, line: int) -> list[Edit]:
    """Make the optimizer behind what replaces parts of its model, in the same block."""
    optimizer = only(optimizers(program), "optimizer")
    block = program.block(optimizer.statement)
    given = {
        node.id
        for node in ast.walk(optimizer.call)
        if isinstance(node, ast.Name) and node.id not in ("torch", "optim")
    }
    behind = block[block.index(optimizer.statement) + 1 :]
    replacing = [item for item in behind if _replaces_part(item, given)]
    if not replacing:
        raise NoCureError("nothing replaces a part of the model behind the optimizer")
    between = behind[: behind.index(replacing[-1])]
    if any(optimizer.name in program.source(item) for item in between):
        raise NoCureError("the optimizer is used before the last part is replaced")
    return program.move_after(optimizer.statement, replacing[-1])


def make_optimizer_once(program: Program, line: int) -> list[Edit]:
    """Make the optimizer before the outermost loop, if it needs nothing that the loop makes."""
    inside = [item for item in optimizers(program) if program.above(item.statement, LOOPS)]
    optimizer = only(inside, "optimizer that is made in a loop")
    loop = program.above(optimizer.statement, LOOPS)[-1]
    assert isinstance(loop, ast.stmt)
    bound = {
        node.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    if bound & {node.id for node in ast.walk(optimizer.call) if isinstance(node, ast.Name)}:
        raise NoCureError("the optimizer needs what the loop makes")
    return program.move_before(optimizer.statement, loop)


def _replaces_part(statement: ast.stmt, names: set[str]) -> bool:
    """Whether it assigns to one of these names, or to a part of it."""
    if not isinstance(statement, ast.Assign):
        return False
    target: ast.expr = statement.targets[0]
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return isinstance(target, ast.Name) and target.id in names


def _statements(program: Program) -> list[ast.stmt]:
    return [node for node in program.nodes if isinstance(node, ast.stmt)]


def _backward_at(program: Program, line: int) -> ast.Expr:
    """The backward pass in a line, or the only one of its function."""
    statement = program.statement_at(line)
    if isinstance(statement, ast.Expr) and method_call(statement, "backward"):
        return statement
    passes = backwards(program.function(statement))
    if len(passes) != 1:
        raise NoCureError(f"there are {len(passes)} backward passes in the function of the alarm")
    return passes[0]


def _steps_around(program: Program, backward: ast.stmt) -> list[ast.Expr]:
    """The steps in the outermost loop around a backward pass."""
    loops = program.above(backward, LOOPS)
    found = steps(program, loops[-1]) if loops else []
    if not found:
        raise NoCureError("no step stands in a loop around the backward pass")
    return found


def _clip_at(program: Program, line: int) -> ast.Expr | ast.Assign:
    """The clipping in a line, or the only one of the program."""
    statements = [node for node in program.nodes if isinstance(node, ast.Expr | ast.Assign)]
    clips = [node for node in statements if _is_clip(node)]
    here = [clip for clip in clips if clip.lineno <= line <= (clip.end_lineno or 0)]
    chosen = here or clips
    if len(chosen) != 1:
        raise NoCureError(f"there are {len(chosen)} clippings")
    return chosen[0]


def _is_clip(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr | ast.Assign)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) in CLIPS
        and bool(node.value.args)
    )


def _is_list(node: ast.AST) -> bool:
    return isinstance(node, ast.List | ast.ListComp) or (
        isinstance(node, ast.Call) and last_name(node.func) in ("list", "tuple")
    )


def _last(items: list[ast.Expr], block: list[ast.stmt], what: str) -> ast.Expr:
    """The last of them that stands in the block itself."""
    inside = [item for item in items if item in block]
    if not inside:
        raise NoCureError(f"no {what} stands in the block of the alarm")
    return max(inside, key=lambda item: item.lineno)
