"""Wrappers around functions of torch, with which Dynamo and TorchScript do what they do without them.

Dynamo meets a wrapper in two ways. Where it compiles a function that calls one, the wrapper is nothing but the call of
what it wraps. Where it looks for functions to compile, it skips wrappers, as it skips the functions of torch.
"""

import functools
import threading
import types

import torch
import torch._dynamo
from torch.fx import GraphModule

set_eval_frame = torch._C._dynamo.eval_frame.set_eval_frame

# Dynamo takes what this function returns for a constant.
is_compiling = (
    getattr(getattr(torch, "compiler", None), "is_compiling", None) or torch._dynamo.is_compiling
)
# A function in C up to torch 2.4 at least, and in Python from 2.8 at the latest.
skip_code = (
    getattr(torch._C._dynamo.eval_frame, "skip_code", None) or torch._dynamo.eval_frame.skip_code
)
# Where torch has both, `get` raises an error outside of a compilation.
tracing_context = (
    getattr(torch._guards.TracingContext, "try_get", None) or torch._guards.TracingContext.get
)


class Depth(threading.local):
    """How deep a thread is in calls of one kind; monitors hear of the outermost one."""

    value = 0


def skipped(function):
    """The function; Dynamo does not begin to compile there, and goes on to look at what it calls."""
    skip_code(function.__code__)
    return function


def uncompiled(call):
    """`call`, hidden from Dynamo with all that it calls.

    `torch._dynamo.disable` does the same, and takes much longer.
    """

    @functools.wraps(call)
    def wrapper(*arguments):
        callback = set_eval_frame(None)
        try:
            return call(*arguments)
        finally:
            set_eval_frame(callback)

    return skipped(wrapper)


@skipped
def is_tracing():
    """Whether Dynamo calls this with tensors that hold no numbers, while it compiles."""
    return tracing_context() is not None


@skipped
def is_compiled_code(module):
    """Whether a module is what Dynamo has made of a function, or a wrapper of that."""
    # Parts of a scripted module have no `get`.
    parts = getattr(module, "_modules", {})
    return isinstance(module, GraphModule) or (
        "_orig_mod" in parts and isinstance(parts["_orig_mod"], GraphModule)
    )


def outermost(bare, before=None, after=None, depth=None):
    """`bare`, with calls around the outermost of its calls: `before(arguments, options)`, `after(…, result)`."""
    depth = depth or Depth()
    # By no global name: `scriptable` gives the wrapper those of `bare`.
    compiling, tracing = is_compiling, is_tracing

    @functools.wraps(bare)
    def wrapper(*arguments, **options):
        if compiling() or depth.value or tracing():
            return bare(*arguments, **options)
        if before is not None:
            before(arguments, options)
        depth.value += 1
        try:
            result = bare(*arguments, **options)
        finally:
            depth.value -= 1
        if after is not None:
            after(arguments, options, result)
        return result

    return skipped(wrapper)


def scriptable(wrapper, bare):
    """`wrapper` for TorchScript, which reads the source of `bare` and looks up its names in the wrapper's globals."""
    function = types.FunctionType(
        wrapper.__code__, bare.__globals__, bare.__name__, closure=wrapper.__closure__
    )
    return functools.wraps(bare)(function)
