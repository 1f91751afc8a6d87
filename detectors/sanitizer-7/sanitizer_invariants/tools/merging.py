"""Functions that merge weights by their names: which these are, and calls of them."""

import functools
import inspect
import re
import sys
import types

import torch

from sanitizer_invariants.tools.hooks import LISTENER, Depth, is_compiling, skip_code
from sanitizer_invariants.tools.statements import list_files

OBJECT = (
    "weights?|adapters?|loras?|kernels?|branch(es)?|convs?|bns?|batch_?norms?|norms?|linears?|"
    "and|unload|qkv|projections?|into|base"
)
NORM = "bns?|batch_?norms?|layer_?norms?|norms?|convs?|and|into"
NAME = re.compile(
    rf"(un)?(merge|fuse)(_({OBJECT}))*|(un)?fuse_(model|modules|modules_qat)|fold(_({NORM}))+|"
    "reparameterize(_model)?|switch_to_deploy"
)
# With these, and with none of theirs, a function of torch leaves the network as it is.
TORCH = ("fuse_modules", "fuse_modules_qat")
SWITCHES = (type(None), bool)
DEPTH = Depth()


def watch_functions():
    """Tell `before_merge` and `after_merge` of the program's functions, and of those of torch."""
    holders = [module for _, module in list_files()]
    holders += [sys.modules.get(name) for name in ("torch.ao.quantization", "torch.quantization")]
    for holder in holders:
        for name, value in list(vars(holder).items() if holder else ()):
            if is_merging(name, value) and (name in TORCH or not is_of_torch(value)):
                setattr(holder, name, watch_merge(value, find_argument))


def watch_methods(module):
    """Tell of the methods of a module and its parts that need no argument."""
    classes = {item for part in module.modules() for item in type(part).__mro__}
    for owner in classes:
        if is_of_torch(owner):
            continue
        for name, value in list(vars(owner).items()):
            if is_merging(name, value) and not list_required(value)[1:]:
                setattr(owner, name, watch_merge(value, find_owner))


def is_merging(name, value):
    is_function = isinstance(value, types.FunctionType) and not hasattr(value, "is_watched_merge")
    return is_function and NAME.fullmatch(name) is not None


def is_of_torch(value):
    return (value.__module__ or "").partition(".")[0] == "torch"


def list_required(function):
    """The names of the arguments that a function has to be given."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    needed = [item for item in parameters if item.default is item.empty]
    return [item.name for item in needed if item.kind not in variable]


def find_argument(function, arguments, options):
    """The one module that a function is given, if there is nothing else that says how to merge."""
    values = [*arguments, *options.values()]
    modules = [value for value in values if isinstance(value, torch.nn.Module)]
    rest = [value for value in values if not isinstance(value, (torch.nn.Module, *SWITCHES))]
    if len(modules) != 1 or (rest and not is_of_torch(function)):
        return None
    return modules[0]


def find_owner(function, arguments, options):
    """The module of a method, if there is nothing that says how to merge."""
    values = [*arguments[1:], *options.values()]
    return arguments[0] if all(isinstance(value, SWITCHES) for value in values) else None


def watch_merge(bare, find_module):
    """A function that merges, with its outermost calls told."""
    before, after = LISTENER.teller("before_merge"), LISTENER.teller("after_merge")

    @functools.wraps(bare)
    def merge(*arguments, **options):
        module = None if DEPTH.value or is_compiling() else find_module(bare, arguments, options)
        if module is None:
            return bare(*arguments, **options)
        before(module, bare)
        DEPTH.value += 1
        try:
            result = bare(*arguments, **options)
        finally:
            DEPTH.value -= 1
        after(module, result)
        return result

    merge.is_watched_merge = True
    skip_code(merge.__code__)
    return merge
