"""The compiler of torch: watched steps are compiled bare, and monitors hear of calls of compiled functions."""

import functools
import types

import torch
import torch._dynamo

from .calls import outermost
from .optimizers import FORWARD, STEPS, surround


class Compiler:
    """The result of `torch._dynamo.optimize`, except that a watched step is compiled bare and watched from outside."""

    def __init__(self, context, tell):
        self.context, self.tell = context, tell

    def __call__(self, function):
        FORWARD.is_compiling = True
        FORWARD.begin_all()
        step = getattr(function, "__func__", None)
        if isinstance(step, types.FunctionType) and step in STEPS:
            bare = types.MethodType(step.bare, function.__self__)
            return surround(self.context(bare), step.before, step.after)
        compiled = self.context(function)
        # Calls of modules are seen as such.
        is_function = isinstance(function, (types.FunctionType, types.MethodType))
        if self.tell is None or not is_function:
            return compiled
        return watch_compiled(function, compiled, self.tell)

    def __enter__(self):
        return self.context.__enter__()

    def __exit__(self, *error):
        return self.context.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self.context, name)


def watch_compiled(function, compiled, tell):
    """`compiled`, which stands for `function`, with its calls told."""

    def before(arguments, options):
        tell("before_compiled", function, arguments, options)

    def after(arguments, options, result):
        tell("after_compiled", function, arguments, options, result)

    return outermost(compiled, torch._dynamo.disable(before), torch._dynamo.disable(after))


def hook_compiler(session):
    """Watch what is compiled from now on."""
    bare = torch._dynamo.optimize
    is_told = session.teller.wants("before_compiled", "after_compiled")
    tell = session.teller.tell if is_told else None

    @functools.wraps(bare)
    def optimize(*arguments, **options):
        return Compiler(bare(*arguments, **options), tell)

    torch._dynamo.optimize = optimize
