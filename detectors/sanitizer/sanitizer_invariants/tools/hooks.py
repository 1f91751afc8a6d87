"""Moments that the launcher does not tell, and that invariants can have methods for as well:

- `after_view(tensor, result)`: `view` or `reshape` of a plain tensor of floating point.
"""

import functools

import torch
import torch._dynamo

# Dynamo takes what this function returns for a constant.
is_compiling = (
    getattr(getattr(torch, "compiler", None), "is_compiling", None) or torch._dynamo.is_compiling
)
# A function in C up to torch 2.4 at least, and in Python from 2.8 at the latest.
skip_code = (
    getattr(torch._C._dynamo.eval_frame, "skip_code", None) or torch._dynamo.eval_frame.skip_code
)
VIEWS = ("view", "reshape")
PLAIN = (torch.Tensor, torch.nn.Parameter)


def install(sanitizer, program):
    """Hook what the invariants of a sanitizer have methods for."""
    for moment, hook in HOOKS.items():
        tell = getattr(sanitizer, moment, None)
        if tell is not None:
            hook(tell, program)


def hook_views(tell, program):
    for name in VIEWS:
        setattr(torch.Tensor, name, watch_view(getattr(torch.Tensor, name), tell, program))


def watch_view(bare, tell, program):
    """A method that changes the shape of a tensor, with its results told."""

    @functools.wraps(bare)
    def view(tensor, *arguments, **options):
        result = bare(tensor, *arguments, **options)
        # Where tensors stand for others their sizes may not be known.
        is_plain = type(tensor) in PLAIN and not is_compiling()
        if is_plain and result.is_floating_point() and not program.is_hidden:
            tell(tensor, result)
        return result

    skip_code(view.__code__)
    return view


HOOKS = {"after_view": hook_views}
