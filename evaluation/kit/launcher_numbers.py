"""How is it seen what becomes of single numbers: of losses and their sums, and of the scale of a loss?

For launcher_hooks: a function for each kind of moment.
"""

import functools
import threading

import torch
import torch._dynamo

is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or torch._dynamo.is_compiling


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
        # Before, as `x += y` changes x.
        constant = right if left.requires_grad else left
        is_told = left.numel() == 1 and not is_compiling() and left.requires_grad != has_gradients(right)
        result = bare(left, right)
        if is_told and isinstance(result, torch.Tensor) and result.requires_grad and result.numel() == 1:
            tell("after_sum", constant, result)
        return result

    return add


def has_gradients(value):
    return isinstance(value, torch.Tensor) and value.requires_grad


def hook_numbers(tell, wants):
    """Numbers that are taken out of the graph."""
    for name in TAKEN:
        setattr(torch.Tensor, name, told_number(getattr(torch.Tensor, name), tell))
    torch.tensor = told_tensor(torch.tensor, tell)


def told_number(bare, tell):
    @functools.wraps(bare)
    def take(tensor, *arguments, **options):
        value = bare(tensor, *arguments, **options)
        if not taking.several and tensor.requires_grad and tensor.numel() == 1 and not is_compiling():
            tell("after_number", [tensor], value)
        return value

    return take


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

    return make


def hook_scalers(tell, wants):
    """What a GradScaler does with a loss, and with the gradients of an optimizer."""
    one = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
    one.scale = around(one.scale, tell, None, "after_scale")
    one.unscale_ = around(one.unscale_, tell, None, "after_unscale")
    one.step = around(one.step, tell, "before_scaled_step", None)


def around(bare, tell, before, after):
    @functools.wraps(bare)
    def call(scaler, given, *arguments, **options):
        if before is not None:
            tell(before, scaler, given)
        result = bare(scaler, given, *arguments, **options)
        if after is not None:
            tell(after, scaler, given)
        return result

    return call


HOOKS = {
    hook_sums: ("after_sum",),
    hook_numbers: ("after_number",),
    hook_scalers: ("after_scale", "after_unscale", "before_scaled_step"),
}
