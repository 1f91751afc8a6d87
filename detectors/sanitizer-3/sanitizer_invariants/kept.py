"""Whether a copy of a module can be called without the program noticing: what it changes has to be a part of it."""

import dis
import types

import torch

STORES = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR")
# Of these a call changes nothing, or (of tensors) hardly ever does.
HARMLESS = (
    type(None), bool, int, float, complex, str, bytes, tuple, frozenset, range, slice, type, types.ModuleType,
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, staticmethod, classmethod, property, torch.Tensor,
    torch.dtype, torch.device, torch.Size,
)  # fmt: skip
FUNCTIONS = 100


def keeps(module):
    """Whether `forward` of a module, or what it calls, may keep something outside of the module.

    So it may where it stores globals or attributes (which may be those of a class), or names objects of the program or
    of a class that can change: lists, dictionaries, generators of random numbers. Functions of torch are taken not to,
    nor is looked at methods of what is no module.
    """
    waiting, seen = [(getattr(part, "forward", None), type(part)) for part in module.modules()], set()
    while waiting:
        function, owner = waiting.pop()
        if not isinstance(function, types.FunctionType):
            function = getattr(function, "__func__", None)
        if function in seen or not isinstance(function, types.FunctionType) or is_of_torch(function):
            continue
        seen.add(function)
        found = named(function, owner)
        if stores(function.__code__) or len(seen) > FUNCTIONS or not all(isinstance(each, HARMLESS) for each in found):
            return True
        waiting += [(each.fget if isinstance(each, property) else each, owner) for each in found]
    return False


def is_of_torch(function):
    return (function.__module__ or "").partition(".")[0] == "torch"


def codes(code):
    """A code and those that are written inside of it."""
    found = [code]
    for each in found:
        found += [one for one in each.co_consts if isinstance(one, types.CodeType)]
    return found


def stores(code):
    return any(
        each.opname in STORES or (each.opname == "STORE_DEREF" and each.argval in code.co_freevars)
        for one in codes(code)
        for each in dis.get_instructions(one)
    )


def named(function, owner):
    """What a function names: of its globals and the modules there, of its closure, of the class it is a method of."""
    names = {name for one in codes(function.__code__) for name in one.co_names}
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [
        each for each in found if isinstance(each, types.ModuleType) and each.__name__.partition(".")[0] != "torch"
    ]
    for holder in (*modules, *(one for one in owner.__mro__ if not is_of_torch(one))):
        own = [vars(holder)[name] for name in names if name in vars(holder)]
        found += [each for each in own if isinstance(holder, type) or isinstance(each, types.FunctionType)]
    return found + [cell.cell_contents for cell in function.__closure__ or () if is_set(cell)]


def is_set(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
