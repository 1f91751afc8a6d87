"""What a program calls its optimizers, models, losses and loaders."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeVar

from templates.program import NoCureError, Program

T = TypeVar("T")
# Optimizers of torch.optim; SparseAdam and LBFGS have no foreach.
OPTIMIZERS = {
    "SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop",
    "ASGD",
}  # fmt: skip
OTHER_OPTIMIZERS = {"SparseAdam", "LBFGS", "Adafactor", "Muon"}
SCHEDULES = {
    "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR", "LambdaLR",
    "MultiplicativeLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "SequentialLR",
    "ChainedScheduler",
}  # fmt: skip
SCHEDULES_BY_STEP = {"OneCycleLR", "CyclicLR"}


@dataclass(frozen=True)
class Named:
    """An assignment `name = call(...)`."""

    name: str
    call: ast.Call
    statement: ast.Assign


def last_name(node: ast.AST) -> str:
    """The last part of a name: `cross_entropy` of functional.cross_entropy."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_path(node: ast.AST) -> bool:
    """Whether it is a name, or names behind dots: reading it twice does nothing."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def is_pure(node: ast.AST) -> bool:
    """Whether reading an expression twice does nothing: names, attributes and their entries."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not _is_index(node.slice):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _is_index(node: ast.AST) -> bool:
    return not any(isinstance(part, ast.Call) for part in ast.walk(node))


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """The argument of this name."""
    return next((item for item in call.keywords if item.arg == name), None)


def method_call(statement: ast.AST, *names: str) -> ast.Call | None:
    """The call of a statement that is a call of one of these methods, and nothing else."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr in names:
            return statement.value
    return None


def receiver(call: ast.Call) -> ast.expr:
    """`a.b` of a.b.method()."""
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def made_by(program: Program, names: set[str]) -> Iterator[Named]:
    """The assignments of calls of these names."""
    for statement in program.assignments():
        value, target = statement.value, statement.targets[0]
        if isinstance(value, ast.Call) and last_name(value.func) in names and is_path(target):
            yield Named(ast.unparse(target), value, statement)


def optimizers(program: Program) -> list[Named]:
    """The assignments of optimizers of torch."""
    return list(made_by(program, OPTIMIZERS | OTHER_OPTIMIZERS))


def steps(program: Program, holder: ast.AST) -> list[ast.Expr]:
    """The statements in a part of a program that are a step of an optimizer, or of a scaler."""
    schedules = {item.name for item in made_by(program, SCHEDULES | SCHEDULES_BY_STEP)}
    schedules.add("scheduler")
    statements: list[ast.Expr] = []
    for node in ast.walk(holder):
        call = method_call(node, "step")
        if call and ast.unparse(receiver(call)) not in schedules:
            assert isinstance(node, ast.Expr)
            statements.append(node)
    return statements


def backwards(holder: ast.AST) -> list[ast.Expr]:
    """The statements in a part of a program that are a backward pass."""
    return [
        node
        for node in ast.walk(holder)
        if isinstance(node, ast.Expr) and method_call(node, "backward")
    ]


def stepped(step: ast.Expr) -> str:
    """The text of the optimizer that a statement steps: that of `scaler.step(optimizer)`, too."""
    assert isinstance(step.value, ast.Call)
    call = step.value
    is_scaler = bool(call.args) and "scaler" in ast.unparse(receiver(call)).lower()
    return ast.unparse(call.args[0] if is_scaler else receiver(call))


def trained_model(program: Program) -> str:
    """The only model whose parameters an optimizer is given; raises NoCureError where there are more."""
    models: set[str] = set()
    for item in optimizers(program):
        for node in ast.walk(item.call):
            function = node.func if isinstance(node, ast.Call) else None
            is_method = isinstance(function, ast.Attribute) and function.attr in PARAMETERS
            if is_method and is_path(function.value):
                models.add(ast.unparse(function.value))
    return only(models, "model that an optimizer is given")


PARAMETERS = {"parameters", "named_parameters"}


def only(items: Collection[T], what: str) -> T:
    """The only one; raises NoCureError where there are several, or none."""
    if len(items) != 1:
        raise NoCureError(f"there are {len(items)} of: {what}")
    return next(iter(items))
