"""Which tensors are batches of samples: what a DataLoader that shuffles has given says so."""

import weakref

from torch.utils.data import BatchSampler, RandomSampler
from torch.utils.data.distributed import DistributedSampler

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet

LEAST = 4


class Samples:
    """Kinds of tensors (type and shape of one sample) whose first axis counts samples that come in
    any order.
    """

    def __init__(self):
        self.kinds, self.loaders = set(), IdentitySet()

    def note(self, loader, batch):
        """Of the first whole batch of a loader that shuffles,
        and whose tensors all have as many rows as samples.
        """
        if loader is None or loader in self.loaders or not shuffles(loader):
            return
        size, tensors = loader.batch_size, copies.list_tensors(batch)
        if tensors and all(tensor.dim() and len(tensor) == size for tensor in tensors):
            self.loaders.add(loader)
            if not any(size in tensor.shape[1:] for tensor in tensors):
                self.kinds.update(map(kind, tensors))

    def is_one(self, tensor):
        return tensor.dim() > 0 and len(tensor) >= LEAST and kind(tensor) in self.kinds


def kind(tensor):
    return tensor.dtype, tuple(tensor.shape[1:])


def shuffles(loader):
    sampler = find_sampler(loader)
    is_shuffled = type(sampler) is RandomSampler or (
        type(sampler) is DistributedSampler and sampler.shuffle
    )
    return is_shuffled and (loader.batch_size or 0) >= LEAST


def select_rows(tensors, size):
    """Those of the tensors that have one row a sample; None where another axis is as long."""
    if any(size in tensor.shape[1:] for tensor in tensors):
        return None
    return [tensor for tensor in tensors if tensor.dim() and len(tensor) == size]


def find_sampler(loader):
    """What gives the indices of single samples; None where batches are not made as torch makes
    them.
    """
    if loader.batch_sampler is None:
        return loader.sampler
    return loader.batch_sampler.sampler if type(loader.batch_sampler) is BatchSampler else None


def find_source(iterator):
    """What gives the indices of a loader's iterator, the same in all passes; None where nothing can
    refer to it without keeping it, as to a list.
    """
    source = getattr(iterator, "_index_sampler", None)
    try:
        weakref.ref(source)
    except TypeError:
        return None
    return source


def is_of_torch(source):
    """Whether torch wrote what gives the indices."""
    if type(source) is BatchSampler:
        source = source.sampler
    return type(source).__module__.startswith("torch.utils.data")
