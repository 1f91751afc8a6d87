"""Calls of modules, with what each module inside of them was given and gave."""

import torch
from torch.nn.modules.module import register_module_forward_hook

from sanitizer_invariants.tools.identity import IdentityTable


def trace_call(module, arguments, options, grad):
    """The output of a call, and what each module inside of it was given and gave first,
    the innermost ones first.
    """
    parts = IdentityTable()

    def note(part, inputs, output):
        parts.setdefault(part, (inputs, output))

    # Hooks of the modules themselves would keep them from taking their fast paths.
    handle = register_module_forward_hook(note)
    try:
        with torch.inference_mode(False), torch.set_grad_enabled(grad):
            return module(*arguments, **options), parts
    finally:
        handle.remove()


def describe_module(module):
    kind = type(module)
    return (
        f"torch.nn.{kind.__name__}"
        if kind.__module__.startswith("torch.nn.")
        else "torch.nn.Module.__call__"
    )
