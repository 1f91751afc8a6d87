"""Batches of an epoch are different ones, and each epoch has them in another order if it shuffles."""

import weakref

import torch
from torch.utils.data import RandomSampler
from torch.utils.data.distributed import DistributedSampler

from sanitizer_invariants import twins
from sanitizer_invariants.base import Invariant

# Batches of fewer different numbers may be the same by accident.
DISTINCT, NUMBERS, ROUNDS = 16, 4096, 50
# The first batches of an epoch; they are the same twice in a row with a probability of one to (20 * 19 / 2) at most.
FIRST, SAMPLES = 2, 20


class SameBatches(Invariant):
    """Workers of a DataLoader do not give the same batches; epochs that shuffle are not in the same order.

    Why: two workers with copies of one generator, or of one stream of data, halve the data that is learnt from; an
    order that never changes is no shuffling. (`DistributedSampler` needs `set_epoch`, or a new seed.)

    Workers: in two rounds in a row, in which each worker gives one batch, all give the same one, and not that of the
    round before. Orders: the same optimizer has stepped by two batches of this epoch and of the one before of the same
    loader; the first two batches are the same, or the epoch of the DistributedSampler is.

    Excepted: batches of few different numbers, one worker, loaders that say that they keep no order; loaders from which
    nothing is learnt; a state that was loaded in between (searches and comparisons begin anew).

    Cost: a hash of at most 4096 numbers of each tensor of a batch.
    """

    NAME = "same-batches"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.epochs, self.before, self.current = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary(), None

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
        if epoch.batches > ROUNDS * max(1, epoch.workers):
            return
        epoch.hashes.append(hash_of(batch))
        epoch.places.append((self.program.iteration, self.program.here()))
        if epoch.workers > 1 and epoch.batches == epoch.workers * (epoch.round + 1):
            self._end_round(epoch)

    def _end_round(self, epoch):
        workers = epoch.workers
        epoch.round += 1
        given = epoch.hashes[-workers:]
        is_same = given[0] is not None and len(set(given)) == 1
        if is_same and epoch.same_as not in (None, given[0]):
            iteration, where = epoch.places[-2 * workers + 1]
            self.report(
                f"all {workers} workers give the same batches: each is learnt from {workers} times",
                api="torch.utils.data.DataLoader",
                iteration=iteration,
                where=where,
            )
        epoch.same_as = given[0] if is_same else None

    def after_load(self, what):
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
        if epoch.batches == FIRST and before is not None and optimizer in before.optimizers:
            api = repeats(loader, before, epoch)
            if api:
                iteration, where = epoch.places[0]
                message = "two epochs in a row have the same order, though they are to be shuffled"
                self.report(message, api=api, iteration=iteration, where=where)


class Epoch:
    """What is known of one iteration over a loader."""

    def __init__(self, loader):
        self.workers = loader.num_workers if getattr(loader, "in_order", True) else 0
        self.number = getattr(getattr(loader, "sampler", None), "epoch", None)
        self.batches, self.round, self.hashes, self.places, self.same_as = 0, 0, [], [], None
        self.optimizers = weakref.WeakSet()


def repeats(loader, before, now):
    """What is at fault where the order is that of the epoch before, or None."""
    sampler = getattr(loader, "sampler", None)
    if isinstance(sampler, DistributedSampler) and sampler.shuffle and len(sampler) >= SAMPLES:
        return "torch.utils.data.distributed.DistributedSampler.set_epoch" if before.number == now.number else None
    if not isinstance(sampler, RandomSampler) or len(sampler) < SAMPLES or None in now.hashes[:FIRST]:
        return None
    return "torch.utils.data.RandomSampler" if before.hashes[:FIRST] == now.hashes[:FIRST] else None


def hash_of(batch):
    """A hash of the numbers of a batch; None where it has too few different ones."""
    numbers = []
    for each in twins.leaves(batch):
        if each.device.type == "cpu" and each.layout == torch.strided:
            flat = each.detach().reshape(-1)
            numbers += flat[:: max(1, len(flat) // NUMBERS)].tolist()
    return hash(tuple(numbers)) if len(set(numbers)) > DISTINCT else None
