"""Which tensors are batches of samples: what a DataLoader that shuffles has given says so."""

import weakref

from torch.utils.data import RandomSampler
from torch.utils.data.distributed import DistributedSampler

from sanitizer_invariants import twins
from sanitizer_invariants.same_batches import sampler_of

LEAST = 4


class Samples:
    """Kinds of tensors (type and shape of one sample) whose first axis counts samples that come in any order."""

    def __init__(self):
        self.kinds, self.seen = set(), weakref.WeakSet()

    def note(self, loader, batch):
        """Of the first whole batch of a loader that shuffles, and whose tensors all have as many rows as samples."""
        if loader is None or loader in self.seen or not shuffles(loader):
            return
        size, tensors = loader.batch_size, twins.leaves(batch)
        if tensors and all(each.dim() and len(each) == size for each in tensors):
            self.seen.add(loader)
            if not any(size in each.shape[1:] for each in tensors):
                self.kinds.update(map(kind, tensors))

    def is_one(self, tensor):
        return tensor.dim() > 0 and len(tensor) >= LEAST and kind(tensor) in self.kinds


def kind(tensor):
    return tensor.dtype, tuple(tensor.shape[1:])


def shuffles(loader):
    sampler = sampler_of(loader)
    of_order = type(sampler) is RandomSampler or (type(sampler) is DistributedSampler and sampler.shuffle)
    return of_order and (loader.batch_size or 0) >= LEAST


def rows(tensors, size):
    """Those of the tensors that have one row a sample; None where another axis is as long."""
    if any(size in each.shape[1:] for each in tensors):
        return None
    return [each for each in tensors if each.dim() and len(each) == size]
