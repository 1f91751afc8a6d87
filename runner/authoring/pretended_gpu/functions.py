"""Functions of torch that the script calls: they are answered as on a machine with a GPU."""

import functools
from collections.abc import Hashable

import torch
from pretended_gpu.labels import (
    CPU_LABEL,
    EITHER,
    GPU,
    GPU_LABEL,
    LABELS,
    is_cuda,
    list_tensors,
)
from pretended_gpu.moves import move, to
from torch.overrides import TorchFunctionMode

NO_ARRAY = (
    "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
    "memory first."
)


def to_numpy(function):
    """What makes a NumPy array of a tensor, which has to be on the CPU."""

    @functools.wraps(function)
    def convert(tensor, *args, **kwargs):
        if LABELS.is_gpu(tensor):
            raise TypeError(NO_ARRAY)
        return function(tensor, *args, **kwargs)

    return convert


def like_self(function):
    """What makes a tensor on the device of another one, out of sight of the operations."""

    @functools.wraps(function)
    def make(tensor, *args, **kwargs):
        result = function(tensor, *args, **kwargs)
        LABELS.put(result, LABELS.find(tensor))
        return result

    return make


def made_there(function):
    """What makes a tensor of numbers on a device that it is told."""

    @functools.wraps(function)
    def make(data, *args, device=None, **kwargs):
        if isinstance(data, torch.Tensor) and device is None:
            return function(data, *args, **kwargs)
        result = function(data, *args, **kwargs)
        return move(result, is_cuda(device))

    return make


def device_of(tensor):
    return GPU if LABELS.is_gpu(tensor) else torch.device(tensor.device.type)


def handlers():
    """What stands for the functions that the operations do not see, or that ask for the device."""
    tensor = torch.Tensor
    found = {
        tensor.device.__get__: device_of,
        tensor.is_cuda.__get__: LABELS.is_gpu,
        tensor.get_device: lambda value: 0 if LABELS.is_gpu(value) else -1,
        tensor.to: to,
        tensor.cpu: lambda value, **options: move(value, False),
        tensor.cuda: lambda value, *args, **options: move(value, True),
        tensor.pin_memory: lambda value, *args, **options: value,
    }
    found |= {function: to_numpy(function) for function in (tensor.numpy, tensor.__array__)}
    found |= {
        function: like_self(function) for function in (tensor.__deepcopy__, tensor.new_tensor)
    }
    return found | {function: made_there(function) for function in (torch.tensor, torch.as_tensor)}


class Functions(TorchFunctionMode):
    """Answers what asks for a device, and moves tensors."""

    def __init__(self, operations):
        super().__init__()
        self.operations, self.handlers = operations, handlers()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        handler = self.handlers.get(func) if isinstance(func, Hashable) else None
        if handler is not None:
            return handler(*args, **kwargs)
        device = kwargs.get("device")
        if is_cuda(device):
            kwargs["device"] = "cpu"
        before = self.operations.within_gpu
        is_within = before or any(map(LABELS.is_gpu, list_tensors(args, kwargs)))
        self.operations.within_gpu = is_within
        try:
            result = func(*args, **kwargs)
        finally:
            self.operations.within_gpu = before
        if device is not None or is_within:
            self._label(result, device)
        return result

    def _label(self, result, device):
        """Give what a function has made the label of the device that it was told, if any."""
        for tensor in list_tensors(result):
            if device is not None:
                LABELS.put(tensor, GPU_LABEL if is_cuda(device) else CPU_LABEL)
            elif LABELS.find(tensor) == EITHER:
                LABELS.put(tensor, GPU_LABEL)
