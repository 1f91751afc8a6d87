"""Cures of state that is kept, copied and loaded, and of parameters that are frozen."""

import ast

from templates.names import is_path, last_name, method_call, optimizers, receiver
from templates.program import LOOPS, Edit, NoCureError, Program

# Modules of functions of tensors.
FUNCTIONS_OF = {"torch", "F", "functional", "special", "linalg"}


def keep_copy(program: Program, line: int) -> list[Edit]:
    """Keep a deep copy of each state that is loaded again by its name."""
    loaded = {
        ast.unparse(call.args[0])
        for call in program.calls()
        if _is_load(call) and is_path(call.args[0])
    }
    edits: list[Edit] = []
    for item in program.assignments():
        is_state = any(map(_is_state, ast.walk(item.value)))
        if is_state and program.source(item.targets[0]) in loaded:
            edits += _copied(program, item.value)
    if not edits:
        raise NoCureError("no state that is loaded was kept under its name")
    return edits + program.importing("copy")


def load_copy(program: Program, line: int) -> list[Edit]:
    """Load a deep copy of the state of an optimizer."""
    names = {item.name for item in optimizers(program)}
    edits: list[Edit] = []
    for call in program.calls():
        if _is_load(call) and program.source(receiver(call)) in names:
            edits += _copied(program, call.args[0])
    if not edits:
        raise NoCureError("no optimizer loads a state")
    return edits + program.importing("copy")


def freeze_whole(program: Program, line: int) -> list[Edit]:
    """Call requires_grad_(False) in the place of setting an attribute that torch does not know."""
    edits = [
        program.replace(item, f"{program.source(target.value)}.requires_grad_(False)")
        for item in program.assignments()
        if isinstance(target := item.targets[0], ast.Attribute)
        and isinstance(item.value, ast.Constant)
        and item.value.value is False
        and _is_of_gradients(program, target)
    ]
    if not edits:
        raise NoCureError("no such attribute is set to False")
    return edits


def clear_frozen(program: Program, line: int) -> list[Edit]:
    """Set the gradient of a parameter to None where it is frozen during the training."""
    edits: list[Edit] = []
    for item in program.assignments():
        target = item.targets[0]
        is_false = isinstance(item.value, ast.Constant) and item.value.value is False
        if is_false and last_name(target) == "requires_grad" and isinstance(target, ast.Attribute):
            edits.append(program.after(item, f"{program.source(target.value)}.grad = None"))
    for node in program.nodes:
        call = method_call(node, "requires_grad_")
        if call and _says_false(call) and isinstance(node, ast.Expr):
            edits.append(program.after(node, _cleared(program, call)))
    if not edits:
        raise NoCureError("nothing is frozen in the program")
    return edits


def average_slowly(program: Program, line: int) -> list[Edit]:
    """Take 1 - decay of the newest weights into an average by lerp_."""
    calls = [call for call in program.calls() if last_name(call.func) == "lerp_"]
    if len(calls) != 1 or len(calls[0].args) != 2:
        raise NoCureError(f"there are {len(calls)} calls of lerp_")
    weight = calls[0].args[1]
    return [program.replace(weight, f"1 - ({program.source(weight)})")]


def separate_layers(program: Program, line: int) -> list[Edit]:
    """Make each layer of a list by itself, or a copy of it."""
    edits: list[Edit] = []
    for node in program.nodes:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
            continue
        sides = [node.left, node.right]
        lists = [side for side in sides if isinstance(side, ast.List) and len(side.elts) == 1]
        if len(lists) == 1:
            (count,) = [side for side in sides if side is not lists[0]]
            edits.append(_listed(program, node, lists[0].elts[0], count))
    if len(edits) != 1:
        raise NoCureError(f"there are {len(edits)} products of a list of one item")
    is_copied = "copy.deepcopy" in edits[0].text
    return edits + (program.importing("copy") if is_copied else [])


def register_layers(program: Program, line: int) -> list[Edit]:
    """Keep a list of layers in a ModuleList, a dictionary of them in a ModuleDict."""
    edits: list[Edit] = []
    for item in program.assignments():
        target = item.targets[0]
        if isinstance(target, ast.Attribute) and program.source(target.value) == "self":
            kind = _kind_of_layers(item.value)
            if kind:
                text = program.source(item.value)
                edits.append(program.replace(item.value, f"torch.nn.{kind}({text})"))
    if len(edits) != 1:
        raise NoCureError(f"{len(edits)} lists of layers are kept in attributes")
    return edits + program.importing("torch")


def keep_result(program: Program, line: int) -> list[Edit]:
    """Keep the result of what changes no tensor under the name of the tensor that it is given."""
    statement = program.statement_at(line)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        raise NoCureError("the line is no call, and nothing else")
    call = statement.value
    if isinstance(call.func, ast.Attribute) and last_name(call.func.value) not in FUNCTIONS_OF:
        owner: ast.expr = call.func.value
    elif call.args:
        owner = call.args[0]
    else:
        raise NoCureError("the call is given no tensor")
    if not is_path(owner):
        raise NoCureError("what the call is given has no name")
    return [program.replace(statement, f"{program.source(owner)} = {program.source(call)}")]


def call_wrapper(program: Program, line: int) -> list[Edit]:
    """Call the wrapper, and not the module in it."""
    edits = [
        program.replace(call.func, program.source(call.func.value))
        for call in program.calls()
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "module"
        and program.above(call, LOOPS)
    ]
    if not edits:
        raise NoCureError("no module of a wrapper is called in a loop")
    return edits


def _copied(program: Program, node: ast.expr) -> list[Edit]:
    text = program.source(node)
    return [] if "deepcopy" in text else [program.replace(node, f"copy.deepcopy({text})")]


def _is_load(call: ast.Call) -> bool:
    return last_name(call.func) == "load_state_dict" and bool(call.args)


def _is_state(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "state_dict"


def _is_of_gradients(program: Program, target: ast.Attribute) -> bool:
    """Whether an attribute has a name like requires_grad, and does not belong to a parameter."""
    if target.attr == "requires_grad":
        return not program.above(target, LOOPS) and not target_is_weight(target)
    return "grad" in target.attr or "trainable" in target.attr or "frozen" in target.attr


def target_is_weight(target: ast.Attribute) -> bool:
    """Whether it is an attribute of a weight or a bias."""
    return last_name(target.value) in ("weight", "bias")


def _says_false(call: ast.Call) -> bool:
    values = [*call.args, *(item.value for item in call.keywords)]
    return any(isinstance(value, ast.Constant) and value.value is False for value in values)


def _cleared(program: Program, call: ast.Call) -> str:
    owner = receiver(call)
    text = program.source(owner)
    is_parameter = last_name(owner) in ("weight", "bias", "parameter", "param", "p")
    return f"{text}.grad = None" if is_parameter else f"{text}.zero_grad(set_to_none=True)"


def _listed(program: Program, node: ast.expr, item: ast.expr, count: ast.expr) -> Edit:
    text, times = program.source(item), program.source(count)
    layer = text if isinstance(item, ast.Call) else f"copy.deepcopy({text})"
    return program.replace(node, f"[{layer} for _ in range({times})]")


def _kind_of_layers(node: ast.expr) -> str | None:
    """ModuleList or ModuleDict for a list or dictionary of new layers of torch.nn."""
    items: list[ast.expr] = []
    if isinstance(node, ast.List):
        items = node.elts
    elif isinstance(node, ast.ListComp):
        items = [node.elt]
    elif isinstance(node, ast.Dict):
        items = node.values
    are_layers = bool(items) and all(map(_is_layer, items))
    kind = "ModuleDict" if isinstance(node, ast.Dict) else "ModuleList"
    return kind if are_layers else None


def _is_layer(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value).rpartition(".")[2] == "nn"
    )
