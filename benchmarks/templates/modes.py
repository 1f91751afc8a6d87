"""Cures of training and evaluation mode, and of dropout."""

import ast
import contextlib

from templates.names import (
    backwards,
    is_path,
    keyword,
    last_name,
    steps,
    trained_model,
)
from templates.program import FUNCTIONS, LOOPS, Edit, NoCureError, Program

WITHOUT_GRADIENTS = {"no_grad", "inference_mode"}
DROPOUTS = {"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"}


def train_before_steps(program: Program, line: int) -> list[Edit]:
    """Call the model's train() at the start of the innermost loop that takes steps."""
    model = trained_model(program)
    return [program.before(_training_loop(program, model).body[0], f"{model}.train()")]


def evaluate_without_gradients(program: Program, line: int) -> list[Edit]:
    """Call eval() where the model is called without gradients, and train() before steps."""
    statement = program.statement_at(line)
    call = _called_module(program, statement)
    place = _without_gradients(program, statement)
    start = place.body[0]
    if isinstance(start, ast.Expr) and isinstance(start.value, ast.Constant):
        start = place.body[1]
    return [program.before(start, f"{call}.eval()"), *train_before_steps(program, line)]


def evaluate_other_network(program: Program, line: int) -> list[Edit]:
    """Call eval() on the network that is not trained, before the loop in which it is called."""
    statement = program.statement_at(line)
    trained = trained_model(program)
    names = {
        node.func.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    others = [name for name in sorted(names - {trained}) if _is_bound(program, name)]
    loops = program.above(statement, LOOPS)
    if len(others) != 1 or not loops:
        raise NoCureError("the line calls not one other network in a loop")
    assert isinstance(loops[-1], ast.stmt)
    return [program.before(loops[-1], f"{others[0]}.eval()")]


def dropout_by_mode(program: Program, line: int) -> list[Edit]:
    """Let functional dropout in a module follow its mode: training=self.training."""
    edits: list[Edit] = []
    for call in program.calls():
        if not _is_in_method(program, call):
            continue
        if last_name(call.func) in DROPOUTS and not _is_own_part(call.func):
            edits += _follow_mode(program, call)
        elif isinstance(call.func, ast.Call) and last_name(call.func.func) == "Dropout":
            edits.append(
                program.replace(call.func, f"{program.source(call.func)}.train(self.training)")
            )
        elif last_name(call.func) == "scaled_dot_product_attention":
            edits += _attention_by_mode(program, call)
    if not edits:
        raise NoCureError("no dropout of a module is out of its mode's reach")
    return edits


def mode_of_compiled(program: Program, line: int) -> list[Edit]:
    """Set and ask the mode of the module that was compiled."""
    compiled = {
        program.source(item.targets[0])
        for item in program.assignments()
        if isinstance(item.value, ast.Call) and program.source(item.value.func) == "torch.compile"
    }
    edits = [
        program.replace(node.value, f"{program.source(node.value)}._orig_mod")
        for node in program.nodes
        if isinstance(node, ast.Attribute)
        and node.attr in ("train", "eval", "training")
        and program.source(node.value) in compiled
    ]
    if not edits:
        raise NoCureError("the mode of no compiled module is set or asked by a name")
    return edits


def _training_loop(program: Program, model: str) -> ast.For | ast.While:
    """The innermost loop around the only backward pass, in which the model is known."""
    passes = [item for item in backwards(program.tree) if program.above(item, LOOPS)]
    passes = passes or [item for item in steps(program, program.tree) if program.above(item, LOOPS)]
    loops = {program.above(item, LOOPS)[0] for item in passes}
    if len(loops) != 1:
        raise NoCureError(f"there are {len(loops)} loops with backward passes")
    (loop,) = loops
    assert isinstance(loop, ast.For | ast.While)
    function = program.function(loop)
    root = model.partition(".")[0]
    if isinstance(function, FUNCTIONS) and root not in _names_of(function):
        raise NoCureError(f"the loop does not know {model}")
    return loop


def _names_of(function: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def _called_module(program: Program, statement: ast.stmt) -> str:
    """The module that a statement calls: what is trained, or an argument of its function."""
    function = program.function(statement)
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    models = arguments if isinstance(function, FUNCTIONS) else set()
    with contextlib.suppress(NoCureError):
        models = models | {trained_model(program)}
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and program.source(node.func) in models:
            return program.source(node.func)
    raise NoCureError("the line calls no model by its name")


def _without_gradients(program: Program, statement: ast.stmt) -> ast.With | ast.FunctionDef:
    """The block without gradients that holds a statement, or the function that is one."""
    for holder in program.above(statement, (ast.With,)):
        assert isinstance(holder, ast.With)
        texts = [program.source(item.context_expr) for item in holder.items]
        if any(name in text for text in texts for name in WITHOUT_GRADIENTS):
            return holder
    function = program.function(statement)
    if isinstance(function, ast.FunctionDef):
        decorators = " ".join(map(program.source, function.decorator_list))
        if any(name in decorators for name in WITHOUT_GRADIENTS):
            return function
    raise NoCureError("the line stands in no block without gradients")


def _is_bound(program: Program, name: str) -> bool:
    """Whether the program binds a name otherwise than by a definition."""
    names = [node for node in program.nodes if isinstance(node, ast.Name) and node.id == name]
    return any(isinstance(node.ctx, ast.Store) for node in names)


def _is_in_method(program: Program, node: ast.AST) -> bool:
    function = program.function(node)
    return isinstance(function, ast.FunctionDef) and any(
        argument.arg == "self" for argument in function.args.args
    )


def _is_own_part(node: ast.AST) -> bool:
    """Whether it is self.dropout, a module of its own."""
    return (
        isinstance(node, ast.Attribute) and is_path(node) and ast.unparse(node).startswith("self.")
    )


def _follow_mode(program: Program, call: ast.Call) -> list[Edit]:
    known = keyword(call, "training")
    if known:
        if isinstance(known.value, ast.Constant):
            return [program.replace(known.value, "self.training")]
        return []
    if len(call.args) > 2:
        is_fixed = isinstance(call.args[2], ast.Constant)
        return [program.replace(call.args[2], "self.training")] if is_fixed else []
    last = [*call.args, *call.keywords][-1]
    return [program.replace(last, f"{program.source(last)}, training=self.training")]


def _attention_by_mode(program: Program, call: ast.Call) -> list[Edit]:
    chance = keyword(call, "dropout_p")
    if chance is None or "training" in program.source(chance):
        return []
    text = f"{program.source(chance.value)} if self.training else 0.0"
    return [program.replace(chance.value, text)]
