"""Operations of torch: what mixes devices is refused, and what is made gets a label."""

import torch
from pretended_gpu.labels import (
    CPU_LABEL,
    EITHER,
    GPU_LABEL,
    LABELS,
    is_cuda,
    list_tensors,
    storage_of,
)
from torch.utils._python_dispatch import TorchDispatchMode

MIXED = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
)
# What CUDA takes on the CPU beside tensors on the GPU: sources of copies, indices and lengths.
BETWEEN = {
    "copy_",
    "_to_copy",
    "set_",
    "_pack_padded_sequence",
    "_ctc_loss",
    "_use_cudnn_ctc_loss",
}
INDEXED = {"index", "index_put_", "index_put", "_index_put_impl_"}


class Operations(TorchDispatchMode):
    """Refuses what mixes devices, and labels what each operation makes.

    `within_gpu`: the function of torch that the script has called was given tensors on the GPU.
    """

    def __init__(self):
        super().__init__()
        self.within_gpu = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        given = list_tensors(args, kwargs)
        labels = [LABELS.find(tensor) for tensor in given]
        refuse_mixed(func, args, given, labels)
        label = max(labels, default=EITHER if self.within_gpu else CPU_LABEL)
        if is_cuda(kwargs.get("device")):
            kwargs["device"], label = torch.device("cpu"), GPU_LABEL
        result = func(*args, **kwargs)
        known = {storage._cdata for storage in map(storage_of, given) if storage is not None}
        for tensor in list_tensors(result):
            storage = storage_of(tensor)
            if storage is not None and storage._cdata not in known:
                LABELS.put(tensor, label)
        return result


def refuse_mixed(func, args, given, labels):
    """Raise what CUDA raises for an operation on tensors of both devices.

    A single number on the CPU goes with all.
    """
    name = func._schema.name.split("::")[-1]
    if GPU_LABEL not in labels or name in BETWEEN:
        return
    if name in INDEXED and LABELS.is_gpu(args[0]):
        given = list_tensors(args[2]) if len(args) > 2 else []
        labels = [LABELS.find(tensor) for tensor in given]
    pairs = zip(given, labels)  # noqa: B905
    if any(label == CPU_LABEL and tensor.dim() for tensor, label in pairs):
        raise RuntimeError(f"{MIXED} (in {name})")
