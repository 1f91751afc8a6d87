"""Batches of an epoch are different ones, and each epoch has them in another order if it
shuffles.
"""

import weakref
from operator import itemgetter

from torch.utils.data import IterableDataset, RandomSampler, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.digests import bytes_of
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import find_sampler, shuffles

ROUNDS = 50
# An order is the same by chance once in 20 * 19 * ... * 13 = 5e9 epochs at most: of 20 samples or
# more 8 are compared.
SAMPLES, COMPARED = 20, 8
# One batch may be a look at the data; who steps by two goes on.
FIRST = 2


class SameBatches(Invariant):
    """Workers of a DataLoader do not give the same batches;
    epochs that shuffle are not in the same order.

    Why: two workers with copies of one generator, or of one stream of data, halve the data that is
    learnt from; an order that never changes is no shuffling. (`DistributedSampler` needs
    `set_epoch`, or another seed.)

    Workers: in two rounds in a row, in which each worker gives one batch, all give the same one,
    and not that of the round before; or, where samples are shuffled, one tensor of their batches
    is. Orders: the same optimizer has stepped by the first batches, two and eight samples at least,
    of this epoch and of the one before of the same loader; they are the same, or epoch and seed of
    the DistributedSampler are.

    Excepted: batches of few different numbers, one worker, loaders that say that they keep no
    order; samplers other than those of torch, which may give a batch twice on purpose; loaders from
    which nothing is learnt; a state that was loaded in between (searches and comparisons begin
    anew).

    Cost: a hash of at most 4096 numbers of each tensor of a batch: with several workers of the
    first 50 rounds of an epoch, else of as many batches as are compared.
    """

    NAME = "same-batches"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.epochs, self.before, self.current = (
            IdentityTable(),
            IdentityTable(),
            None,
        )

    def before_epoch(self, loader):
        if loader in self.epochs and self.epochs[loader].optimizers:
            self.before[loader] = self.epochs[loader]
        self.epochs[loader] = Epoch(loader)

    def after_batch(self, loader, batch):
        epoch = self.epochs.get(loader) if loader is not None else None
        self.current = epoch and weakref.ref(loader)
        if epoch is None:
            return
        epoch.batches += 1
        if epoch.batches > max(ROUNDS * epoch.workers, epoch.first):
            return
        epoch.hashes.append(hash_of(batch))
        if epoch.workers > 1:
            epoch.parts.append([hash_of(part) for part in copies.list_tensors(batch)])
        epoch.places.append((self.program.iteration, self.program.here()))
        if epoch.workers > 1 and epoch.batches == epoch.workers * (epoch.round + 1):
            self._end_round(epoch)

    def _end_round(self, epoch):
        workers = epoch.workers
        epoch.round += 1
        digests = epoch.hashes[-workers:]
        is_same = digests[0] is not None and len(set(digests)) == 1
        if is_same and epoch.same_as not in (None, digests[0]):
            iteration, where = epoch.places[-2 * workers + 1]
            self.report(
                f"all {workers} workers give the same batches: each is learnt from {workers} times",
                api="torch.utils.data.DataLoader",
                iteration=iteration,
                where=where,
            )
        epoch.same_as = digests[0] if is_same else None
        if not is_same and epoch.is_shuffled:
            self._compare_parts(epoch)

    def _compare_parts(self, epoch):
        """Look for a part of the batches that is the same from all workers, and another one in each
        round.
        """
        rounds = [epoch.parts[-2 * epoch.workers : -epoch.workers], epoch.parts[-epoch.workers :]]
        sizes = {len(parts) for batches in rounds for parts in batches}
        if epoch.round < 2 or len(sizes) != 1:
            return
        for place in range(*sizes):
            before, now = (set(map(itemgetter(place), batches)) for batches in rounds)
            is_same = len(before) == len(now) == 1 and None not in before | now
            if is_same and before != now:
                iteration, where = epoch.places[-epoch.workers]
                self.report(
                    f"all {epoch.workers} workers give the same numbers in one part of their "
                    "batches, and not in the others: they draw with one seed",
                    api="torch.utils.data.DataLoader",
                    iteration=iteration,
                    where=where,
                )

    def after_load(self, loaded):
        self.before.clear()
        for epoch in self.epochs.values():
            epoch.optimizers.clear()

    def after_step(self, optimizer):
        loader = self.current and self.current()
        epoch = self.epochs.get(loader) if loader is not None else None
        if epoch is None:
            return
        epoch.optimizers.add(optimizer)
        before = self.before.get(loader)
        if epoch.batches == epoch.first and before is not None and optimizer in before.optimizers:
            api = repeats(loader, before, epoch)
            if api:
                iteration, where = epoch.places[0]
                message = "two epochs in a row have the same order, though they are to be shuffled"
                self.report(message, api=api, iteration=iteration, where=where)


class Epoch:
    """What is known of one iteration over a loader."""

    def __init__(self, loader):
        self.workers = (
            loader.num_workers
            if getattr(loader, "in_order", True) and is_without_repeats(loader)
            else 0
        )
        self.first, self.order = first(loader), order(loader)
        self.batches, self.round, self.hashes, self.places, self.same_as = 0, 0, [], [], None
        self.optimizers, self.parts = IdentitySet(), []
        self.is_shuffled = not isinstance(loader.dataset, IterableDataset) and shuffles(loader)


def is_without_repeats(loader):
    """Whether no two batches are of the same samples, as far as the loader decides it."""
    if isinstance(loader.dataset, IterableDataset):
        return True
    sampler = find_sampler(loader)
    if loader.batch_sampler is None or type(sampler) not in (
        SequentialSampler,
        DistributedSampler,
        RandomSampler,
    ):
        return False
    return not getattr(sampler, "replacement", False)


def first(loader):
    """How many of the first batches tell one order from another;
    0 where the order is not looked at.
    """
    sampler = find_sampler(loader)
    if type(sampler) not in (RandomSampler, DistributedSampler) or len(sampler) < SAMPLES:
        return 0
    return max(FIRST, -(-COMPARED // getattr(loader.batch_sampler, "batch_size", 1)))


def order(loader):
    """What the order of a DistributedSampler follows from;
    None where there is nothing of that kind.
    """
    sampler = find_sampler(loader)
    if type(sampler) is not DistributedSampler or not sampler.shuffle:
        return None
    return sampler.epoch, sampler.seed, len(sampler)


def repeats(loader, before, now):
    """What is at fault where the order is that of the epoch before, or None."""
    if type(find_sampler(loader)) is DistributedSampler:
        is_same = now.order is not None and now.order == before.order
        return "torch.utils.data.distributed.DistributedSampler.set_epoch" if is_same else None
    if None in now.hashes[: now.first] or before.hashes[: now.first] != now.hashes[: now.first]:
        return None
    return "torch.utils.data.RandomSampler"


def hash_of(batch):
    """A hash of the numbers of a batch; None where it has too few different ones."""
    pieces = bytes_of(copies.list_tensors(batch))
    return None if pieces is None else hash(tuple(pieces))
