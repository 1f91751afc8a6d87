"""Cures of schedules of the learning rate."""

import ast

from templates.names import (
    SCHEDULES,
    SCHEDULES_BY_STEP,
    made_by,
    method_call,
    only,
    receiver,
    steps,
)
from templates.program import LOOPS, Edit, NoCureError, Program


def step_schedule(program: Program, line: int) -> list[Edit]:
    """Call the schedule's step(): behind the epoch, or behind the step where it is one by steps."""
    everywhere = [*made_by(program, SCHEDULES | SCHEDULES_BY_STEP)]
    called = {program.source(receiver(call)) for call in program.calls() if _is_step(call)}
    schedule = only([item for item in everywhere if item.name not in called], "unused schedule")
    (step,) = _only_step(program)
    if schedule.call.func and _name(schedule.call) in SCHEDULES_BY_STEP:
        return [program.after(step, f"{schedule.name}.step()")]
    return [program.after(_epoch(program, step).body[-1], f"{schedule.name}.step()")]


def step_by_epochs(program: Program, line: int) -> list[Edit]:
    """Move the schedule's step() out of the loop over batches, behind it."""
    statement = program.statement_at(line)
    names = {item.name for item in made_by(program, SCHEDULES)} | {"scheduler"}
    moved = [
        node
        for node in ast.walk(program.function(statement))
        if (call := method_call(node, "step")) and program.source(receiver(call)) in names
    ]
    if len(moved) != 1:
        raise NoCureError(f"there are {len(moved)} steps of schedules in the function of the alarm")
    (step,) = moved
    assert isinstance(step, ast.stmt)
    loops = program.above(step, LOOPS)
    if len(loops) < 2:
        raise NoCureError("the schedule does not step in a loop within a loop")
    assert isinstance(loops[-2], ast.stmt)
    return program.move_after(step, loops[-2])


def _is_step(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "step"


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def _only_step(program: Program) -> list[ast.Expr]:
    found = [item for item in steps(program, program.tree) if program.above(item, LOOPS)]
    if len(found) != 1:
        raise NoCureError(f"there are {len(found)} steps of optimizers in loops")
    return found


def _epoch(program: Program, step: ast.Expr) -> ast.For:
    """The outermost loop around a step."""
    loop = program.above(step, LOOPS)[-1]
    if not isinstance(loop, ast.For):
        raise NoCureError("the epochs are no for loop")
    return loop
