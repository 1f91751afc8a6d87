"""Cures of compiled code, of fast paths, and of options that torch has gone wrong with."""

import ast

from templates.names import OPTIMIZERS, keyword, last_name
from templates.program import FUNCTIONS, Edit, NoCureError, Program


def plain_steps(program: Program, line: int) -> list[Edit]:
    """Pass foreach=False to the optimizers, and fused=False where it is set."""
    edits: list[Edit] = []
    for call in program.calls():
        if last_name(call.func) in OPTIMIZERS and call.args:
            edits += _plain_options(program, call)
    if not edits:
        raise NoCureError("no optimizer is made that has such options")
    return edits


def uncompiled(program: Program, line: int) -> list[Edit]:
    """Leave functions and modules uncompiled."""
    edits: list[Edit] = []
    for node in program.nodes:
        if isinstance(node, ast.Call) and _is_compile(node.func) and node.args:
            edits.append(program.replace(node, program.source(node.args[0])))
        elif isinstance(node, FUNCTIONS):
            edits += [
                _without_decorator(program, item)
                for item in node.decorator_list
                if _is_compile(item.func if isinstance(item, ast.Call) else item)
            ]
    if not edits:
        raise NoCureError("nothing is compiled by torch.compile")
    return edits


def rate_as_tensor(program: Program, line: int) -> list[Edit]:
    """Pass the learning rate to the optimizers as a tensor."""
    edits = [
        program.replace(known.value, f"torch.tensor({program.source(known.value)})")
        for call in program.calls()
        if last_name(call.func) in OPTIMIZERS and (known := keyword(call, "lr"))
    ]
    if not edits:
        raise NoCureError("no optimizer is given lr by its name")
    return edits + program.importing("torch")


def without_fast_path(program: Program, line: int) -> list[Edit]:
    """Turn the fast path of attention off."""
    return [program.after_imports("torch.backends.mha.set_fastpath_enabled(False)")] + (
        program.importing("torch")
    )


def transparent(program: Program, line: int) -> list[Edit]:
    """Call checkpoint() with preserve_rng_state=True and use_reentrant=False."""
    edits: list[Edit] = []
    for call in program.calls():
        if last_name(call.func) == "checkpoint" and call.args:
            edits += _transparent_options(program, call)
    if not edits:
        raise NoCureError("no call of checkpoint() has other options")
    return edits


def batch_first(program: Program, line: int) -> list[Edit]:
    """Pass batch_first=True to attention and recurrent layers."""
    names = {
        "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer",
        "LSTM", "GRU", "RNN",
    }  # fmt: skip
    edits = [
        program.replace(last, f"{program.source(last)}, batch_first=True")
        for call in program.calls()
        if last_name(call.func) in names
        and call.args
        and keyword(call, "batch_first") is None
        and (last := [*call.args, *call.keywords][-1])
    ]
    if not edits:
        raise NoCureError("no layer leaves batch_first out")
    return edits


def momentum_by_name(program: Program, line: int) -> list[Edit]:
    """Pass the momentum of batch normalisation by name, as 1 minus what others call so."""
    edits: list[Edit] = []
    for call in program.calls():
        if not last_name(call.func).startswith("BatchNorm"):
            continue
        known = keyword(call, "momentum")
        if known and _is_large(known.value):
            edits.append(program.replace(known.value, f"1 - {program.source(known.value)}"))
        elif len(call.args) > 1 and _is_large(call.args[1]):
            text = f"momentum=1 - {program.source(call.args[1])}"
            edits.append(program.replace(call.args[1], text))
    if not edits:
        raise NoCureError("no batch normalisation has a momentum or eps of a half or more")
    return edits


def _plain_options(program: Program, call: ast.Call) -> list[Edit]:
    edits: list[Edit] = []
    for name in ("foreach", "fused"):
        known = keyword(call, name)
        if known:
            edits.append(program.replace(known.value, "False"))
    if not keyword(call, "foreach"):
        last = [*call.args, *call.keywords][-1]
        if isinstance(last, ast.keyword) and last.arg == "fused":
            return [program.replace(last, "fused=False, foreach=False")]
        edits.append(program.replace(last, f"{program.source(last)}, foreach=False"))
    return edits


def _transparent_options(program: Program, call: ast.Call) -> list[Edit]:
    edits: list[Edit] = []
    wanted = {"preserve_rng_state": "True", "use_reentrant": "False"}
    for name, value in wanted.items():
        known = keyword(call, name)
        if known and program.source(known.value) != value:
            edits.append(program.replace(known.value, value))
    return edits


def _is_compile(node: ast.AST) -> bool:
    return ast.unparse(node) == "torch.compile"


def _without_decorator(program: Program, node: ast.expr) -> Edit:
    edit = program.replace(node, "")
    start = program.text.rindex("@", 0, edit.start)
    while program.text[start - 1] in " \t":
        start -= 1
    return Edit(start, program.text.index("\n", edit.end) + 1, "")


def _is_large(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value >= 0.5
