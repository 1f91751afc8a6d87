"""Cures of loaders, samplers and random numbers."""

import ast

from templates.names import keyword, last_name, made_by, method_call
from templates.program import LOOPS, Edit, NoCureError, Program

LOADER = {"DataLoader"}


def set_epochs(program: Program, line: int) -> list[Edit]:
    """Call set_epoch() of each DistributedSampler at the start of an epoch."""
    samplers = [item.name for item in made_by(program, {"DistributedSampler"})]
    loop = _epochs(program, line)
    if not samplers or not isinstance(loop.target, ast.Name):
        raise NoCureError("no DistributedSampler has a name, or the epochs have none")
    return [
        program.before(loop.body[0], f"{name}.set_epoch({loop.target.id})") for name in samplers
    ]


def shuffle(program: Program, line: int) -> list[Edit]:
    """Pass shuffle=True to the DataLoader that is learnt from."""
    call = _loader_at(program, line)
    if keyword(call, "sampler") or keyword(call, "batch_sampler") or len(call.args) > 2:
        raise NoCureError("the loader has a sampler of its own")
    return [_with_keyword(program, call, "shuffle", "True")]


def keep_last_batch(program: Program, line: int) -> list[Edit]:
    """Pass drop_last=False to the DataLoader that is evaluated."""
    call = _loader_at(program, line)
    known = keyword(call, "drop_last")
    if known is None:
        raise NoCureError("the loader does not say drop_last")
    return [program.replace(known.value, "False")]


def new_workers(program: Program, line: int) -> list[Edit]:
    """Let each epoch make its workers anew: persistent_workers=False."""
    edits = [
        program.replace(known.value, "False")
        for call in program.calls()
        if last_name(call.func) in LOADER and (known := keyword(call, "persistent_workers"))
    ]
    if not edits:
        raise NoCureError("no loader has persistent workers")
    return edits


def seed_once(program: Program, line: int) -> list[Edit]:
    """Set the seed before the loop, and not in it."""
    seeds = [node for node in program.nodes if method_call(node, "manual_seed", "seed_everything")]
    inside = [node for node in seeds if isinstance(node, ast.stmt) and program.above(node, LOOPS)]
    if not inside:
        raise NoCureError("no seed is set in a loop")
    return [program.remove(item) for item in inside]


def copy_items(program: Program, line: int) -> list[Edit]:
    """Make a new tensor in the place of writing into that of the dataset."""
    in_items = [
        node
        for node in program.nodes
        if isinstance(node, ast.stmt)
        and getattr(program.function(node), "name", "") == "__getitem__"
    ]
    here = [_copied(program, item) for item in program.statements_at(line)]
    edits = [edit for edit in here if edit] or [
        edit for item in in_items if (edit := _copied(program, item))
    ]
    if len(edits) != 1:
        raise NoCureError(f"{len(edits)} statements write into a name")
    return edits


def _copied(program: Program, statement: ast.stmt) -> Edit | None:
    """An edit that binds a name anew, for a statement that writes into what it holds."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        operator = ast.unparse(ast.BinOp(ast.Name("a"), statement.op, ast.Name("b")))[2:-2]
        name, value = statement.target.id, program.source(statement.value)
        return program.replace(statement, f"{name} = {name} {operator} ({value})")
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    is_method = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    if not is_method or not function.attr.endswith("_"):
        return None
    name, text = function.value.id, program.source(statement)
    plain = text.replace(f".{function.attr}(", f".{function.attr[:-1]}(", 1)
    return program.replace(statement, f"{name} = {plain}")


def _epochs(program: Program, line: int) -> ast.For:
    """The outermost loop around a line."""
    loops = program.above(program.statement_at(line), (ast.For,))
    statement = program.statement_at(line)
    if isinstance(statement, ast.For):
        loops = [statement, *loops]
    if not loops:
        raise NoCureError("the line stands in no loop")
    assert isinstance(loops[-1], ast.For)
    return loops[-1]


def _loader_at(program: Program, line: int) -> ast.Call:
    """The loader of the innermost loop around a line that goes over one, or the one made there."""
    statement = program.statement_at(line)
    for call in ast.walk(statement):
        if isinstance(call, ast.Call) and last_name(call.func) in LOADER:
            return call
    loaders = {item.name: item.call for item in made_by(program, LOADER)}
    holders = program.above(statement, (ast.For,))
    for loop in [statement, *holders] if isinstance(statement, ast.For) else holders:
        assert isinstance(loop, ast.For)
        names = [node.id for node in ast.walk(loop.iter) if isinstance(node, ast.Name)]
        for name in names:
            if name in loaders:
                return loaders[name]
    raise NoCureError("no loop around the line goes over a DataLoader with a name")


def _with_keyword(program: Program, call: ast.Call, name: str, value: str) -> Edit:
    known = keyword(call, name)
    if known is not None:
        return program.replace(known.value, value)
    last = [*call.args, *call.keywords][-1]
    return program.replace(last, f"{program.source(last)}, {name}={value}")
