"""Whether what a copy of an object does stays in the copy."""

import copy
import dis
import inspect
import random
import sys
import types

import torch

from sanitizer_invariants.tools import copies, hooks, side_effects

PROTOCOL = ("update", "compute", "reset")
OBJECTS = 3000
# What a function that writes to a file or starts a process calls.
OUTSIDE = {
    "open", "write", "writelines", "writerow", "write_text", "write_bytes", "mkdir", "unlink",
    "remove", "savefig", "to_csv", "dump", "save", "log_metrics", "add_scalar", "wandb", "mlflow",
    "system", "Popen", "check_call", "check_output",
}  # fmt: skip
SIMPLE = (
    type(None), bool, int, float, complex, str, bytes, type, types.ModuleType, torch.dtype,
    torch.device, torch.Size,
)  # fmt: skip
MUTABLE = (list, dict, set, torch.nn.Module)


def duplicate_isolated(metric):
    """A deep copy of a metric; None where its calls may change more than the copy."""
    objects = reach(metric)
    if objects is None or any(map(is_shared, objects.values())) or acts_outside(metric, objects):
        return None
    twin = duplicate(metric)
    others = reach(twin) if twin is not None else None
    if others is None:
        return None
    # Functions are not copied, and neither is what they have in their closures.
    common = [objects[key] for key in others if key in objects]
    is_entangled = any(isinstance(value, MUTABLE) or is_metric(value) for value in common)
    return None if is_entangled else twin


def duplicate(value):
    """A deep copy without gradients; None where there is none."""
    try:
        with torch.inference_mode(False), torch.no_grad(), copies.drawing_nothing():
            tensors = copies.list_tensors(value)
            memo = {id(tensor): copies.duplicate_tensor(tensor) for tensor in tensors}
            return copy.deepcopy(value, memo)
    except Exception:
        return None


def is_metric(value):
    """Whether a value has the methods of a metric."""
    return all(callable(getattr(type(value), name, None)) for name in PROTOCOL)


def reach(value):
    """What a value holds, by identity; None where it is too much."""
    objects, waiting = {id(value): value}, [value]
    for item in waiting:
        for part in list_parts(item):
            if id(part) not in objects and not isinstance(part, SIMPLE):
                objects[id(part)] = part
                waiting.append(part)
        if len(objects) > OBJECTS:
            return None
    return objects


def list_parts(value):
    """What a value holds itself."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set)):
        return list(value)
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, types.FunctionType):
        # What a hook stands for may be written in C.
        cells = getattr(unhook(value), "__closure__", None) or ()
        return [cell.cell_contents for cell in cells if side_effects.is_set(cell)]
    if isinstance(value, torch.Tensor):
        return []
    return list(getattr(value, "__dict__", {}).values())


def is_shared(value):
    """Whether a value is more than a part of a metric: it learns, or draws numbers."""
    if isinstance(value, torch.nn.Module):
        return any(True for _ in value.parameters())
    if isinstance(value, torch.Tensor):
        return value.requires_grad
    return is_generator(value)


def is_generator(value):
    """Whether a value draws random numbers of its own."""
    name = type(value).__name__
    return isinstance(value, random.Random) or name in ("Generator", "RandomState")


def acts_outside(metric, objects):
    """Whether a function of the program's names what is no part of a metric, and can change."""
    methods = []
    for kind in {type(value) for value in objects.values() if is_metric(value)}:
        methods += [getattr(kind, name) for name in PROTOCOL]
    return name_others(methods, type(metric), objects)


def name_others(methods, owner, objects):
    """Whether methods of a class, or functions among objects, name what is none of these objects
    and can change, or write to files.
    """
    functions = [value for value in objects.values() if isinstance(value, types.FunctionType)]
    waiting, visited = [*functions, *methods], set()
    while waiting:
        function = find_bare(waiting.pop())
        if function is None or function in visited:
            continue
        visited.add(function)
        outer = [
            value
            for value in side_effects.find_objects(function, owner)
            if id(value) not in objects
        ]
        is_safe = all(isinstance(value, side_effects.HARMLESS) for value in outer)
        if not is_safe or len(visited) > side_effects.FUNCTIONS or writes_outside(function, outer):
            return True
        waiting += outer
    return False


def find_bare(function):
    """The function of the program's in a method or wrapper; None where it is installed."""
    function = unhook(getattr(function, "__func__", function))
    if isinstance(function, property):
        function = function.fget
    if not isinstance(function, types.FunctionType):
        return None
    # Decorators of libraries keep what they decorate.
    function = inspect.unwrap(function)
    if not isinstance(function, types.FunctionType):
        return None
    path = function.__code__.co_filename
    is_installed = path.startswith((sys.prefix, sys.base_prefix)) or "site-packages" in path
    return None if is_installed else function


def unhook(function):
    """The function of the program's, without the wrapper of the sanitizer."""
    code = getattr(function, "__code__", None)
    is_hooked = code is not None and code.co_filename == hooks.__file__
    return function.__wrapped__ if is_hooked else function


def writes_outside(function, outer):
    """Whether a function writes to a global name, an attribute of a class that it names,
    or to a file.
    """
    holders = [value for value in outer if isinstance(value, type)]
    for code in side_effects.list_code_objects(function.__code__):
        if not OUTSIDE.isdisjoint(code.co_names):
            return True
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return True
            is_attribute = instruction.opname == "STORE_ATTR"
            if is_attribute and any(instruction.argval in vars(kind) for kind in holders):
                return True
    return False
