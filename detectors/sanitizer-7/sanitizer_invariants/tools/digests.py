"""The numbers of tensors as bytes."""

import ctypes

import torch

# Tensors of fewer different numbers may be the same by accident.
DISTINCT, LOOKED_AT, NUMBERS = 16, 512, 4096


def bytes_of(tensors):
    """The bytes of up to 4096 numbers of each dense tensor on the CPU; None where there are too few
    different ones.
    """
    pieces, different = [], set()
    for tensor in tensors:
        if (
            type(tensor) is torch.Tensor
            and tensor.device.type == "cpu"
            and tensor.layout == torch.strided
            and tensor.numel()
        ):
            flat = tensor.detach().reshape(-1)
            numbers = flat[:: max(1, len(flat) // NUMBERS)].contiguous()
            pieces.append(
                ctypes.string_at(numbers.data_ptr(), numbers.numel() * numbers.element_size())
            )
            if len(different) <= DISTINCT:
                different.update(numbers[:: max(1, len(numbers) // LOOKED_AT) | 1].tolist())
    return pieces if len(different) > DISTINCT else None
