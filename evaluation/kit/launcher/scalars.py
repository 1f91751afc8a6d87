"""Hooks that see what becomes of single numbers: of losses and their sums, and of the scale of a loss.

calls.py says how Dynamo meets the wrappers.
"""

import functools
import inspect
import threading

import torch
import torch._dynamo
import torch.jit._builtins
import torch.utils._device

from .calls import is_compiling, skipped


class Conversion(threading.local):
    """Whether a thread is inside of a call that takes several numbers, each by a call of its own."""

    has_several = False


SUMS = ("__add__", "__radd__", "__iadd__")
CONVERSIONS = ("item", "__float__", "tolist", "detach")
conversion = Conversion()


def hook_sums(tell, wants):
    """`x + y` of single numbers of which one has gradients and the other has none."""
    for name in SUMS:
        setattr(torch.Tensor, name, watch_sum(getattr(torch.Tensor, name), tell))


def watch_sum(bare, tell):
    """A function that adds, with its results told."""

    @functools.wraps(bare)
    def add(first, second):
        # Before, as `x += y` changes x. The size comes last: where tensors stand for others it may not be known.
        constant = second if first.requires_grad else first
        is_mixed = first.requires_grad != has_gradients(second)
        is_watched = is_mixed and not is_compiling() and first.numel() == 1
        result = bare(first, second)
        if is_watched and has_gradients(result) and result.numel() == 1:
            tell("after_sum", constant, result)
        return result

    return skipped(add)


def has_gradients(value):
    return isinstance(value, torch.Tensor) and value.requires_grad


def hook_numbers(tell, wants):
    """Numbers that are taken out of the graph."""
    for name in CONVERSIONS:
        setattr(torch.Tensor, name, watch_conversion(getattr(torch.Tensor, name), tell))
    # Kept from the first call on: the function that `torch.device` as a context looks for is the bare one.
    torch.utils._device._device_constructors()
    torch.tensor = watch_tensor(torch.tensor, tell)
    # TorchScript would read its source.
    torch.jit._builtins._register_builtin(torch.tensor, "aten::tensor")


def watch_conversion(bare, tell):
    """A method that takes a number out of the graph, with its results told."""

    @functools.wraps(bare)
    def take(tensor, *arguments, **options):
        value = bare(tensor, *arguments, **options)
        is_watched = not is_compiling() and not conversion.has_several
        if is_watched and tensor.requires_grad and tensor.numel() == 1:
            tell("after_number", [tensor], value)
        return value

    return skipped(take)


def watch_tensor(bare, tell):
    """`torch.tensor`, with the numbers told that it takes out of the graph."""

    @functools.wraps(bare)
    def make(data, *arguments, **options):
        values = data if isinstance(data, (list, tuple)) else [data]
        if is_compiling() or not any(has_gradients(value) for value in values):
            return bare(data, *arguments, **options)
        conversion.has_several = True
        try:
            tensor = bare(data, *arguments, **options)
        finally:
            conversion.has_several = False
        tell("after_number", list(values), tensor)
        return tensor

    return skipped(make)


def hook_scalers(tell, wants):
    """What a GradScaler does with a loss, and with the gradients of an optimizer."""
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
    scaler.scale = watch_scaler(scaler.scale, tell, None, "after_scale")
    scaler.unscale_ = watch_scaler(scaler.unscale_, tell, None, "after_unscale")
    scaler.step = watch_scaler(scaler.step, tell, "before_scaled_step", None)


def watch_scaler(bare, tell, before, after):
    """A method of a scaler, with the moments `before` and `after` told, if they are named."""
    name = list(inspect.signature(bare).parameters)[1]

    @functools.wraps(bare)
    def call(scaler, *arguments, **options):
        argument = arguments[0] if arguments else options.get(name)
        if before is not None:
            tell(before, scaler, argument)
        result = bare(scaler, *arguments, **options)
        if after is not None:
            tell(after, scaler, argument)
        return result

    return call
