"""Moves from one pretended device to the other."""

import torch
from pretended_gpu.labels import CPU_LABEL, GPU_LABEL, LABELS, is_cuda


class Moved(torch.autograd.Function):
    """A copy on another device; its gradient goes back."""

    @staticmethod
    def forward(ctx, tensor, is_gpu):
        ctx.was_gpu = LABELS.is_gpu(tensor)
        return relabelled(tensor, is_gpu)

    @staticmethod
    def backward(ctx, gradient):
        return relabelled(gradient, ctx.was_gpu), None


def relabelled(tensor, is_gpu):
    copied = tensor.detach().clone()
    LABELS.put(copied, GPU_LABEL if is_gpu else CPU_LABEL)
    return copied


def move(tensor, is_gpu):
    """The tensor on a device; itself, where it is there."""
    if LABELS.is_gpu(tensor) == is_gpu:
        return tensor
    if tensor.requires_grad and torch.is_grad_enabled():
        return Moved.apply(tensor, is_gpu)
    return relabelled(tensor, is_gpu).requires_grad_(tensor.requires_grad)


def to(tensor, *args, **kwargs):
    """Tensor.to, with a device, a type, both, or another tensor."""
    is_gpu = LABELS.is_gpu(tensor)
    args, kwargs = list(args), dict(kwargs)
    if args and isinstance(args[0], torch.Tensor):
        other = args.pop(0)
        args[:0] = [other.dtype]
        is_gpu = LABELS.is_gpu(other)
    elif "other" in kwargs:
        other = kwargs.pop("other")
        kwargs["dtype"], is_gpu = other.dtype, LABELS.is_gpu(other)
    elif args and isinstance(args[0], (str, int, torch.device, type(None))):
        device = args.pop(0)
        is_gpu = is_gpu if device is None else is_cuda(device)
        args[:1] = [args[0] if args and args[0] is not None else tensor.dtype]
    if "device" in kwargs:
        device = kwargs.pop("device")
        is_gpu = is_gpu if device is None else is_cuda(device)
    if not args and kwargs.get("dtype") is None:
        kwargs["dtype"] = tensor.dtype
    return move(torch.Tensor.to(tensor, *args, **kwargs), is_gpu)
