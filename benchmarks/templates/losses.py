"""Cures of what a loss is given, and of how it is made."""

import ast
from collections.abc import Iterator

from templates.names import (
    backwards,
    is_pure,
    keyword,
    last_name,
    made_by,
    method_call,
    receiver,
)
from templates.program import LOOPS, Edit, NoCureError, Program

PROBABILITIES = {"softmax", "sigmoid", "Softmax", "Sigmoid"}
BOUNDED = {"relu", "relu6", "sigmoid", "tanh", "ReLU", "ReLU6", "Sigmoid", "Tanh", "softmax"}
CLASSIFYING = {"cross_entropy", "nll_loss", "binary_cross_entropy_with_logits"}
# How far back a name is followed.
MOST_STATEMENTS = 12
LOSSES = {
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div",
}  # fmt: skip
CRITERIA = {
    "CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "MSELoss", "L1Loss",
    "SmoothL1Loss", "HuberLoss", "KLDivLoss",
}  # fmt: skip


def give_logits(program: Program, line: int) -> list[Edit]:
    """Take the softmax or sigmoid away from what the loss is given, or from the model's end."""
    return _without_activation(program, line, PROBABILITIES)


def unbound_logits(program: Program, line: int) -> list[Edit]:
    """Take the activation away from what the loss is given, or from the model's end."""
    return _without_activation(program, line, BOUNDED)


def give_log_probabilities(program: Program, line: int) -> list[Edit]:
    """Give nll_loss and its like log_softmax() in the place of softmax(), or of logits."""
    call = _loss_at(program, line)
    given = _origin(program, call.args[0], call)
    if isinstance(given, ast.Call) and last_name(given.func) == "softmax":
        assert isinstance(given.func, ast.Attribute)
        owner = program.source(given.func.value)
        return [program.replace(given.func, f"{owner}.log_softmax")]
    if last_name(call.func) != "nll_loss" and not _is_made_by(program, call, "NLLLoss"):
        raise NoCureError("what the loss is given is no softmax")
    return [program.replace(call.args[0], f"({program.source(call.args[0])}).log_softmax(1)")]


def swap_arguments(program: Program, line: int) -> list[Edit]:
    """Give the loss its predictions first, and its targets second."""
    call = _loss_at(program, line)
    first, second = call.args[:2]
    return [
        program.replace(first, program.source(second)),
        program.replace(second, program.source(first)),
    ]


def one_shape(program: Program, line: int) -> list[Edit]:
    """Give the first part of a difference, or of a loss, the shape of the second one."""
    edits: list[Edit] = []
    for node in _around(program, line):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            edits += _reshaped(program, node.left, node.right)
        elif isinstance(node, ast.Call) and _is_loss(program, node) and len(node.args) > 1:
            edits += _reshaped(program, *node.args[:2])
    if not edits:
        raise NoCureError("no difference of two names stands in the line")
    return edits


def _reshaped(program: Program, first: ast.expr, second: ast.expr) -> list[Edit]:
    if not (is_pure(second) or is_pure(first)):
        return []
    if is_pure(second):
        text = program.source(first)
        text = text if isinstance(first, ast.Name | ast.Call | ast.Attribute) else f"({text})"
        return [program.replace(first, f"{text}.reshape({program.source(second)}.shape)")]
    return _reshaped(program, second, first)


def keep_in_graph(program: Program, line: int) -> list[Edit]:
    """Add the tensor itself to the loss, without item(), detach() or float()."""
    for statement in _statements_before(program, line):
        leaving = [node for node in ast.walk(statement) if _leaves_graph(node)]
        found = [node for node in leaving if not _is_within(program, node, leaving)]
        added = [node for node in found if _is_added(program, node)]
        if found:
            return [program.replace(node, _inner(program, node)) for node in added or found]
    raise NoCureError("nothing is taken out of the graph in the line, or where its names are bound")


def negate_once(program: Program, line: int) -> list[Edit]:
    """Take the minus sign in front of the loss away."""
    for statement in _statements_before(program, line):
        for node in ast.walk(statement):
            is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
            if is_negative and not isinstance(node.operand, ast.Constant):
                return [program.replace(node, program.source(node.operand))]
    raise NoCureError("no minus sign stands in front of the loss")


def detach_target(program: Program, line: int) -> list[Edit]:
    """Call detach() on the target of a loss that is made of a reward."""
    for statement in _statements_before(program, line):
        for node in ast.walk(statement):
            pair = _two_sides(program, node)
            targets = [side for side in pair if _is_target(program, side)]
            if len(targets) == 1:
                text = program.source(targets[0])
                return [program.replace(targets[0], f"({text}).detach()")]
    raise NoCureError("no target is a sum with a product")


def detach_advantage(program: Program, line: int) -> list[Edit]:
    """Call detach() on what multiplies the log-probability of an action."""
    for statement in _statements_before(program, line):
        for node in ast.walk(statement):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                sides = [node.left, node.right]
                logs = [side for side in sides if _is_log_probability(program, side)]
                if len(logs) == 1:
                    (other,) = [side for side in sides if side is not logs[0]]
                    return [program.replace(other, f"({program.source(other)}).detach()")]
    raise NoCureError("no product of a log-probability was found")


def add_up_losses(program: Program, line: int) -> list[Edit]:
    """Add the losses of a loop up, from 0 on."""
    statement = program.statement_at(line)
    loops = program.above(statement, LOOPS)
    if not isinstance(statement, ast.Assign) or not loops:
        raise NoCureError("the line assigns no loss in a loop")
    name = program.source(statement.targets[0])
    loop = loops[0]
    assert isinstance(loop, ast.stmt)
    value = program.source(statement.value)
    return [
        program.before(loop, f"{name} = 0"),
        program.replace(statement.value, f"{name} + {value}"),
    ]


def ignore_padding(program: Program, line: int) -> list[Edit]:
    """Give the loss the padding of the only embedding that declares one as ignore_index."""
    paddings = {
        program.source(item.value)
        for call in program.calls()
        if last_name(call.func) == "Embedding" and (item := keyword(call, "padding_idx"))
    }
    if len(paddings) != 1:
        raise NoCureError(f"embeddings declare {len(paddings)} paddings")
    (padding,) = paddings
    call = _configured(program, _loss_at(program, line))
    root = ast.parse(padding, mode="eval").body
    if not isinstance(root, ast.Constant) and not _is_known(program, padding, call):
        raise NoCureError(f"the loss does not know {padding}")
    return [_with_keyword(program, call, "ignore_index", padding)]


def mean_over_mask(program: Program, line: int) -> list[Edit]:
    """Mask the losses of the targets, then divide their sum by that of the mask."""
    for node in _around(program, line):
        product = receiver(node) if _is_reduced(node) else None
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        sides = [product.left, product.right]
        calls = [side for side in sides if isinstance(side, ast.Call) and _is_loss(program, side)]
        if len(calls) != 1 or not isinstance(node, ast.Call):
            continue
        edit = _with_keyword(program, _configured(program, calls[0]), "reduction", '"none"')
        if last_name(node.func) == "sum":
            return [edit]
        (mask,) = [side for side in sides if side is not calls[0]]
        return [edit, _divided(program, node, program.source(mask))]
    raise NoCureError("no mean of a loss that is multiplied by a mask")


def _divided(program: Program, mean: ast.Call, mask: str) -> Edit:
    """An edit that makes of `(...).mean()` the sum, divided by that of the mask."""
    start, end = program.replace(receiver(mean), "").end, program.replace(mean, "").end
    while program.text[start] == ")":
        start += 1
    return Edit(start, end, f".sum() / ({mask}).sum()")


def focal_of_each(program: Program, line: int) -> list[Edit]:
    """Take the cross entropy of each sample, weigh it, then take the mean."""
    statement = program.statement_at(line)
    if not isinstance(statement, ast.Assign | ast.Return) or statement.value is None:
        raise NoCureError("the line neither assigns nor returns a loss")
    names = [node for node in ast.walk(statement.value) if isinstance(node, ast.Name)]
    for name in names:
        given = _origin(program, name, statement)
        if isinstance(given, ast.Call) and _is_loss(program, given):
            configured = _configured(program, given)
            return [
                _with_keyword(program, configured, "reduction", '"none"'),
                program.replace(statement.value, f"({program.source(statement.value)}).mean()"),
            ]
    raise NoCureError("the line uses no cross entropy by a name")


def _without_activation(program: Program, line: int, names: set[str]) -> list[Edit]:
    call = _loss_at(program, line)
    inner = _activation(program, _origin(program, call.args[0], call), names)
    if inner is not None:
        return [program.replace(*inner)]
    ends = [*_ends_of_models(program, names)]
    if len(ends) != 1:
        raise NoCureError(f"{len(ends)} models end with such an activation")
    return ends


def _activation(
    program: Program, node: ast.expr | None, names: set[str]
) -> tuple[ast.expr, str] | None:
    """The outermost call of such a function that a value is, with the text of its input."""
    while node is not None:
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            text = _input_of(program, node, name, names)
            if text is not None:
                return node, text
            node = receiver(node) if _changes_shape(node) else None
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            node = None
    return None


def _input_of(program: Program, call: ast.Call, name: str, names: set[str]) -> str | None:
    """The text of the input of an activation; None for another call."""
    if isinstance(call.func, ast.Call) and last_name(call.func.func) in names and call.args:
        return program.source(call.args[0])
    if name in names and name.islower():
        assert isinstance(call.func, ast.Attribute | ast.Name)
        is_function = isinstance(call.func, ast.Name) or _is_module_of_functions(call.func.value)
        if is_function:
            return program.source(call.args[0]) if call.args else None
        assert isinstance(call.func, ast.Attribute)
        return program.source(call.func.value)
    is_part = name in {item.name.rpartition(".")[2] for item in made_by(program, names)}
    return program.source(call.args[0]) if is_part and len(call.args) == 1 else None


def _is_module_of_functions(node: ast.AST) -> bool:
    return ast.unparse(node).rpartition(".")[2] in ("torch", "F", "functional", "special", "nn")


def _changes_shape(call: ast.Call) -> bool:
    names = ("view", "reshape", "transpose", "permute", "squeeze", "unsqueeze", "flatten", "float")
    return isinstance(call.func, ast.Attribute) and call.func.attr in names


def _ends_of_models(program: Program, names: set[str]) -> Iterator[Edit]:
    """Edits that take an activation from the end of a Sequential, or of a forward()."""
    for call in program.calls():
        if last_name(call.func) == "Sequential" and len(call.args) > 1:
            last = call.args[-1]
            if isinstance(last, ast.Call) and last_name(last.func) in names:
                start, end = program.replace(call.args[-2], "").end, program.replace(last, "").end
                yield Edit(start, end, "")
    for node in program.nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            function = program.function(node)
            if isinstance(function, ast.FunctionDef) and function.name == "forward":
                inner = _activation(program, _origin(program, node.value, node), names)
                if inner is not None:
                    yield program.replace(*inner)


def _loss_at(program: Program, line: int) -> ast.Call:
    """The loss that is computed in a line."""
    found = [
        node
        for node in _around(program, line)
        if isinstance(node, ast.Call) and _is_loss(program, node) and node.args
    ]
    if len(found) != 1:
        raise NoCureError(f"the line computes {len(found)} losses of torch")
    return found[0]


def _is_loss(program: Program, call: ast.Call) -> bool:
    if last_name(call.func) in LOSSES:
        return True
    return _configured(program, call) is not call


def _is_made_by(program: Program, call: ast.Call, name: str) -> bool:
    return last_name(_configured(program, call).func) == name


def _configured(program: Program, call: ast.Call) -> ast.Call:
    """The call that holds a loss's options: that of its criterion, or its own."""
    if isinstance(call.func, ast.Call) and last_name(call.func.func) in CRITERIA:
        return call.func
    for item in made_by(program, CRITERIA):
        if item.name == ast.unparse(call.func):
            return item.call
    return call


def _with_keyword(program: Program, call: ast.Call, name: str, value: str) -> Edit:
    """An edit that gives a call an argument of this name."""
    known = keyword(call, name)
    if known is not None:
        return program.replace(known.value, value)
    parts = [*call.args, *call.keywords]
    if parts:
        return program.replace(parts[-1], f"{program.source(parts[-1])}, {name}={value}")
    return program.replace(call, f"{program.source(call.func)}({name}={value})")


def _around(program: Program, line: int) -> list[ast.AST]:
    """The nodes of the innermost statements that reach over a line."""
    return [node for item in program.statements_at(line) for node in ast.walk(item)]


def _statements_before(program: Program, line: int) -> Iterator[ast.stmt]:
    """The statement of a line, then those in its function that bind the names it uses, and so on;
    of a step those that the backward pass before it uses.
    """
    waiting = program.statements_at(line)
    if method_call(waiting[0], "step"):
        block = ast.Module(program.block(waiting[0]), [])
        waiting = [item for item in backwards(block) if item.lineno < line] or waiting
    seen: set[ast.stmt] = set()
    while waiting and len(seen) < MOST_STATEMENTS:
        user = waiting.pop(0)
        if user in seen:
            continue
        seen.add(user)
        yield user
        names = [node.id for node in ast.walk(user) if isinstance(node, ast.Name)]
        bindings = [_binding(program, name, user) for name in names]
        waiting += [binding for binding in bindings if binding is not None]


def _binding(program: Program, name: str, user: ast.AST) -> ast.Assign | None:
    """The last assignment to a name in the function of its user, before it."""
    line = getattr(user, "lineno", 0)
    function = program.function(user)
    before = [
        item
        for item in program.assignments()
        if program.source(item.targets[0]) == name
        and item.lineno < line
        and program.function(item) is function
    ]
    return max(before, key=lambda item: item.lineno, default=None)


def _origin(program: Program, node: ast.expr, user: ast.AST) -> ast.expr:
    """What a name was bound to in its function, or the expression itself."""
    if isinstance(node, ast.Name):
        binding = _binding(program, node.id, user)
        if binding is not None:
            return binding.value
    return node


def _leaves_graph(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id == "float":
        return len(node.args) == 1 and not isinstance(node.args[0], ast.Constant)
    return isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "detach")


def _is_within(program: Program, node: ast.AST, others: list[ast.AST]) -> bool:
    """Whether one of these holds a node as what it is called on."""
    holder = program.parents[node]
    return holder in others or program.parents.get(holder) in others


def _inner(program: Program, node: ast.AST) -> str:
    while _leaves_graph(node):
        assert isinstance(node, ast.Call)
        node = node.args[0] if isinstance(node.func, ast.Name) else receiver(node)
    return program.source(node)


def _is_added(program: Program, node: ast.AST) -> bool:
    """Whether it is a term of a sum, perhaps with a factor."""
    holder = program.parents[node]
    while isinstance(holder, ast.BinOp) and isinstance(holder.op, ast.Mult):
        holder = program.parents[holder]
    if isinstance(holder, ast.AugAssign):
        return isinstance(holder.op, ast.Add | ast.Sub)
    return isinstance(holder, ast.BinOp) and isinstance(holder.op, ast.Add | ast.Sub)


def _two_sides(program: Program, node: ast.AST) -> list[ast.expr]:
    """What a loss or a difference compares."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and _is_loss(program, node) and len(node.args) > 1:
        return node.args[:2]
    return []


def _is_target(program: Program, node: ast.expr) -> bool:
    """Whether it is a sum of something and a product."""
    value = _origin(program, node, node)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return False
    sides = [value.left, value.right]
    return any(isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult) for side in sides)


def _is_log_probability(program: Program, node: ast.expr) -> bool:
    text = program.source(node) + program.source(_origin(program, node, node))
    return "log_prob" in text


def _is_reduced(node: ast.AST) -> bool:
    """Whether it is a mean or a sum of all numbers."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_method and node.func.attr in ("mean", "sum") and not node.args


def _is_known(program: Program, text: str, user: ast.AST) -> bool:
    """Whether the names in a text are bound at the top of the program, or in the user's function."""
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    known = {
        program.source(item.targets[0])
        for item in program.assignments()
        if program.function(item) in (program.tree, program.function(user))
    }
    return names <= known
