"""What a network remembers is of the sample that it reads."""

import weakref

import torch
from torch.utils.data import RandomSampler, SubsetRandomSampler, WeightedRandomSampler
from torch.utils.data.distributed import DistributedSampler

from sanitizer_invariants.tools.copies import list_tensors
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.recurrence import are_equal, count_samples, read_step
from sanitizer_invariants.tools.samples import find_sampler

BATCHES = 3
RANDOM = (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)


class CarriedState(Invariant):
    """A recurrent network whose samples come in random order begins each batch without the state
    of the batch before.

    Why: a state is what was read of a sample so far. Where batches follow one another in time, row
    by row, it may go on (`detach()` cuts the gradient, not the state). Where a loader shuffles, the
    row of the next batch is another sample, and what is remembered belongs to a stranger.

    Of `nn.RNN`, `nn.GRU`, `nn.LSTM` and their cells, in training, with batches of a DataLoader that
    draws samples at random. In three batches in a row the first state that a module is given is the
    one that it has given last, in the batch before, to the last bit; it has two rows or more, as
    many as the batch.

    Excepted: batches between which another loader gave one; loaders that keep the order of their
    samples, or have a sampler of the program's own; batches without a DataLoader, as an agent makes
    them; states with another number of rows.

    Cost: a comparison of two states for each of the first batches of a module.
    """

    NAME = "carried-state"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.batch, self.rows, self.is_random, self.is_backward = 0, set(), False, False
        self.loader, self.turns = no_loader, 0
        self.memories, self.fresh = IdentityTable(), IdentitySet()

    def after_batch(self, loader, batch):
        self.batch += 1
        if self.loader() is not loader:
            self.turns += 1
            self.loader = weakref.ref(loader) if loader is not None else no_loader
        self.is_random = loader is not None and is_drawn(loader)
        if self.is_random:
            self.rows = {len(tensor) for tensor in list_tensors(batch) if tensor.dim()}

    def before_backward(self, tensors):
        self.is_backward = True

    def after_backward(self, tensors):
        self.is_backward = False

    def after_recurrence(self, module, arguments, options, output):
        is_training = module.training and torch.is_grad_enabled() and not self.is_backward
        if not self.is_random or not is_training or module in self.fresh:
            return
        step = read_step(module, arguments, options, output)
        if step is None:
            self.fresh.add(module)
            return
        memory = self.memories.setdefault(module, Memory())
        is_next = memory.batch != self.batch and memory.turns == self.turns
        if memory.result is not None and is_next:
            self._compare(module, memory, step)
        memory.batch, memory.turns = self.batch, self.turns
        memory.result = step.result.detach()
        if module in self.fresh:
            del self.memories[module]

    def _compare(self, module, memory, step):
        if not self._is_carried(module, memory, step):
            memory.carried, memory.begun = 0, memory.begun + 1
            if memory.begun == BATCHES:
                self.fresh.add(module)
            return
        memory.carried, memory.begun = memory.carried + 1, 0
        if memory.carried == BATCHES:
            self.fresh.add(module)
            kind = type(module).__name__
            self.report(
                f"{kind} begins each batch with the state in which it has left the one before, and "
                "the loader draws samples at random: the state is of other samples",
                api=f"torch.nn.{kind}",
            )

    def _is_carried(self, module, memory, step):
        if step.state is None or count_samples(module, step.state) not in self.rows - {1}:
            return False
        return are_equal(step.state, memory.result) and bool(memory.result.any())


class Memory:
    """The last state that a module gave, in which batch, in which turn of the loaders, and in how
    many batches in a row it went on with it, or did not.
    """

    def __init__(self):
        self.batch, self.turns, self.result = 0, 0, None
        self.carried, self.begun = 0, 0


def no_loader():
    """Instead of a reference to a loader."""


def is_drawn(loader):
    """Whether a loader draws its samples at random, one by one."""
    sampler = find_sampler(loader)
    is_distributed = type(sampler) is DistributedSampler and sampler.shuffle
    return type(sampler) in RANDOM or is_distributed
