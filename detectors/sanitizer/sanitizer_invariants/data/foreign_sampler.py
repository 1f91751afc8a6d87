"""A sampler counts the samples of the dataset that it is used for."""

from torch.utils.data import (
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import find_sampler


class ForeignSampler(Invariant):
    """A sampler of torch that counts up to a number counts up to the size of its loader's dataset.

    Why: these samplers give the indices from 0 to a number: the length of the dataset, or of the
    list of indices, that they were made with, or of a list of weights. If the loader's dataset is
    larger, its first samples alone are ever used, whatever the list says. (Weights are for each
    sample, not for each class; indices are for `SubsetRandomSampler`.)

    Of `RandomSampler`, `SequentialSampler`, `DistributedSampler` and `WeightedRandomSampler`, where
    the number is smaller than the length of the dataset.

    Excepted: other samplers, streams, and a `range`, which says how many are meant.

    Cost: two lengths at the beginning of a loader's first epoch.
    """

    NAME = "foreign-sampler"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.seen = IdentitySet()

    def before_epoch(self, loader):
        if loader in self.seen or isinstance(loader.dataset, IterableDataset):
            return
        self.seen.add(loader)
        sampler = find_sampler(loader)
        length, counted = find_length(loader.dataset), count_samples(sampler)
        if length is None or counted is None or counted >= length:
            return
        kind = type(sampler).__name__
        self.report(
            f"a {kind} counts {counted} samples, and the dataset of its loader has {length}: the "
            "others are never used",
            api=f"torch.utils.data.{kind}",
        )


def count_samples(sampler):
    """How many samples a sampler knows of; None where it gives indices of its own."""
    if type(sampler) is WeightedRandomSampler:
        return len(sampler.weights)
    if type(sampler) in (RandomSampler, SequentialSampler):
        # A range is no dataset: it says how many of the first ones are meant.
        source = sampler.data_source
        return None if isinstance(source, range) else find_length(source)
    if type(sampler) is DistributedSampler:
        return find_length(sampler.dataset)
    return None


def find_length(values):
    try:
        return len(values)
    except (TypeError, NotImplementedError):
        return None
