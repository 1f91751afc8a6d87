"""How is it seen what becomes of single numbers: of losses and their sums, and of the scale of a loss?

For launcher_hooks, whose docstring says how Dynamo meets the wrappers: a function for each kind of moment.
"""

import functools
import inspect
import threading

import torch
import torch._dynamo
import torch.jit._builtins
import torch.utils._device

# Dynamo takes what this function returns for a constant.
is_compiling = (
    getattr(getattr(torch, "compiler", None), "is_compiling", None) or torch._dynamo.is_compiling
)
# A function in C up to torch 2.4 at least, and in Python from 2.8 at the latest.
skip_code = (
    getattr(torch._C._dynamo.eval_frame, "skip_code", None) or torch._dynamo.eval_frame.skip_code
)


def skipped(function):
    """Dynamo does not begin to compile here; it goes on to look at what is called."""
    skip_code(function.__code__)
    return function


class Taking(threading.local):
    """Whether a thread is inside of a call that takes several numbers, each by a call of its own."""

    several = False


SUMS = ("__add__", "__radd__", "__iadd__")
TAKEN = ("item", "__float__", "tolist", "detach")
taking = Taking()


def hook_sums(tell, wants):
    """`x + y` of single numbers of which one has gradients and the other has none."""
    for name in SUMS:
        setattr(torch.Tensor, name, told_sum(getattr(torch.Tensor, name), tell))


def told_sum(bare, tell):
    @functools.wraps(bare)
    def add(left, right):
        # Before, as `x += y` changes x. The size comes last: where tensors stand for others it may not be known.
        constant = right if left.requires_grad else left
        is_told = (
            left.requires_grad != has_gradients(right) and not is_compiling() and left.numel() == 1
        )
        result = bare(left, right)
        if (
            is_told
            and isinstance(result, torch.Tensor)
            and result.requires_grad
            and result.numel() == 1
        ):
            tell("after_sum", constant, result)
        return result

    return skipped(add)


def has_gradients(value):
    return isinstance(value, torch.Tensor) and value.requires_grad


def hook_numbers(tell, wants):
    """Numbers that are taken out of the graph."""
    for name in TAKEN:
        setattr(torch.Tensor, name, told_number(getattr(torch.Tensor, name), tell))
    # Kept from the first call on: the function that `torch.device` as a context looks for is the bare one.
    torch.utils._device._device_constructors()
    torch.tensor = told_tensor(torch.tensor, tell)
    # TorchScript would read its source.
    torch.jit._builtins._register_builtin(torch.tensor, "aten::tensor")


def told_number(bare, tell):
    @functools.wraps(bare)
    def take(tensor, *arguments, **options):
        value = bare(tensor, *arguments, **options)
        if (
            not is_compiling()
            and not taking.several
            and tensor.requires_grad
            and tensor.numel() == 1
        ):
            tell("after_number", [tensor], value)
        return value

    return skipped(take)


def told_tensor(bare, tell):
    @functools.wraps(bare)
    def make(data, *arguments, **options):
        given = data if isinstance(data, (list, tuple)) else [data]
        if is_compiling() or not any(has_gradients(each) for each in given):
            return bare(data, *arguments, **options)
        taking.several = True
        try:
            tensor = bare(data, *arguments, **options)
        finally:
            taking.several = False
        tell("after_number", list(given), tensor)
        return tensor

    return skipped(make)


def hook_scalers(tell, wants):
    """What a GradScaler does with a loss, and with the gradients of an optimizer."""
    one = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
    one.scale = around(one.scale, tell, None, "after_scale")
    one.unscale_ = around(one.unscale_, tell, None, "after_unscale")
    one.step = around(one.step, tell, "before_scaled_step", None)


def around(bare, tell, before, after):
    name = list(inspect.signature(bare).parameters)[1]

    @functools.wraps(bare)
    def call(scaler, *arguments, **options):
        given = arguments[0] if arguments else options.get(name)
        if before is not None:
            tell(before, scaler, given)
        result = bare(scaler, *arguments, **options)
        if after is not None:
            tell(after, scaler, given)
        return result

    return call


HOOKS = {
    hook_sums: ("after_sum",),
    hook_numbers: ("after_number",),
    hook_scalers: ("after_scale", "after_unscale", "before_scaled_step"),
}
