"""Which memory is on the pretended GPU."""

import torch
from torch.multiprocessing.reductions import StorageWeakRef

GPU = torch.device("cuda", 0)
CPU_LABEL, EITHER, GPU_LABEL = range(3)


class StorageLabels:
    """The labels of memory. What torch makes inside of one of its functions goes with both devices.

    A weak reference keeps an address from being given again.
    """

    def __init__(self):
        self.kept, self.limit = {}, 1000

    def find(self, tensor):
        """GPU_LABEL, EITHER or CPU_LABEL."""
        storage = storage_of(tensor)
        if storage is None:
            return CPU_LABEL
        return self.kept.get(storage._cdata, (None, CPU_LABEL))[1]

    def is_gpu(self, tensor):
        return self.find(tensor) == GPU_LABEL

    def put(self, tensor, label):
        storage = storage_of(tensor)
        if storage is None:
            return
        if label == CPU_LABEL:
            self.kept.pop(storage._cdata, None)
            return
        self.kept[storage._cdata] = StorageWeakRef(storage), label
        if len(self.kept) > self.limit:
            self.kept = {key: kept for key, kept in self.kept.items() if not kept[0].expired()}
            self.limit = 1000 + 2 * len(self.kept)


LABELS = StorageLabels()


def storage_of(tensor):
    """The memory of a tensor; None where it has none of its own, as a sparse one."""
    try:
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


def list_tensors(*values):
    """All tensors in nested values."""
    found, waiting = [], list(values)
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            waiting[:0] = value
        elif isinstance(value, dict):
            waiting[:0] = value.values()
    return found


def is_cuda(device):
    """Whether a device, as a script names it, is a GPU."""
    if isinstance(device, int):
        return True
    return device is not None and torch.device(device).type == "cuda"
