"""Whether a copy of a module can be called without the program noticing:
what it changes has to be a part of it.
"""

import dis
import types

import torch

STORES = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR")
# Of these a call changes nothing, or (of tensors) hardly ever does.
HARMLESS = (
    type(None), bool, int, float, complex, str, bytes, tuple, frozenset, range, slice, type,
    types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType, staticmethod,
    classmethod, property, torch.Tensor, torch.dtype, torch.device, torch.Size,
)  # fmt: skip
FUNCTIONS = 100


def may_have_side_effects(module):
    """Whether `forward` of a module, or what it calls, may keep something outside of the module.

    So it may where it stores globals or attributes (which may be those of a class), or names
    objects of the program or of a class that can change: lists, dictionaries, generators of random
    numbers. Functions of torch are taken not to, nor is looked at methods of what is no module.
    """
    waiting = [(getattr(part, "forward", None), type(part)) for part in module.modules()]
    visited = set()
    while waiting:
        function, owner = waiting.pop()
        if not isinstance(function, types.FunctionType):
            function = getattr(function, "__func__", None)
        is_function = isinstance(function, types.FunctionType)
        if function in visited or not is_function or is_of_torch(function):
            continue
        visited.add(function)
        objects = find_objects(function, owner)
        if stores_anything(function.__code__) or len(visited) > FUNCTIONS:
            return True
        for candidate in objects:
            if not isinstance(candidate, HARMLESS):
                return True
            is_property = isinstance(candidate, property)
            waiting.append((candidate.fget if is_property else candidate, owner))
    return False


def is_of_torch(function):
    return (function.__module__ or "").partition(".")[0] == "torch"


def list_code_objects(code):
    """A code and those that are written inside of it."""
    code_objects = [code]
    for current in code_objects:
        code_objects += [
            constant for constant in current.co_consts if isinstance(constant, types.CodeType)
        ]
    return code_objects


def stores_anything(code):
    for nested in list_code_objects(code):
        for instruction in dis.get_instructions(nested):
            if instruction.opname in STORES:
                return True
            if instruction.opname == "STORE_DEREF" and instruction.argval in code.co_freevars:
                return True
    return False


def find_objects(function, owner):
    """What a function names: of its globals and the modules there, of its closure,
    of the class it is a method of.
    """
    names = {name for item in list_code_objects(function.__code__) for name in item.co_names}
    objects = [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [
        candidate
        for candidate in objects
        if isinstance(candidate, types.ModuleType)
        and candidate.__name__.partition(".")[0] != "torch"
    ]
    for holder in (*modules, *(item for item in owner.__mro__ if not is_of_torch(item))):
        attributes = [vars(holder)[name] for name in names if name in vars(holder)]
        objects += [
            candidate
            for candidate in attributes
            if isinstance(holder, type) or isinstance(candidate, types.FunctionType)
        ]
    return objects + [cell.cell_contents for cell in function.__closure__ or () if is_set(cell)]


def is_set(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
