"""What is evaluated was not learnt."""

import weakref

import torch
from torch.utils.data import RandomSampler, SequentialSampler, Subset, SubsetRandomSampler
from torch.utils.data.distributed import DistributedSampler

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import find_sampler

EPOCHS = 2
WHOLE = (RandomSampler, SequentialSampler, DistributedSampler)


class SharedSamples(Invariant):
    """Where parts of one dataset are trained on and evaluated in turns, they share all samples or
    none.

    Why: a validation set is there to tell what the model does with what it has not seen. Two calls
    of `random_split`, one for each set, or one for each copy of the dataset (with other
    transforms), draw two times: a part of the validation set is trained on.

    Of loaders over `Subset`s, or by a `SubsetRandomSampler`, of one dataset, or of two of a class
    that hold the same data. One is evaluated, in evaluation mode and without gradients, after
    epochs of the other, twice. Some of its samples are samples of the other one, and both have some
    of their own.

    Excepted: a part of what is trained on, which is looked at to see how training goes; a whole, of
    which a part is trained on; loaders that are trained on as well; samplers of other kinds.

    Cost: a look-up for each batch and each call of a module; sets of indices once for each pair of
    loaders.
    """

    NAME = "shared-samples"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.current, self.learnt = None, None
        self.trained, self.evaluated = IdentitySet(), IdentityTable()
        self.is_counted = False

    def before_epoch(self, loader):
        self.is_counted = False

    def after_batch(self, loader, batch):
        self.current = None if loader is None else weakref.ref(loader)

    def before_backward(self, tensors):
        loader = self.current and self.current()
        if loader is not None:
            self.trained.add(loader)
            self.learnt = self.current

    def before_forward(self, module, arguments, options):
        if self.is_counted or module.training or torch.is_grad_enabled():
            return
        loader, learnt = self.current and self.current(), self.learnt and self.learnt()
        if loader is None or learnt is None or loader in self.trained:
            return
        self.is_counted = True
        others = self.evaluated.setdefault(loader, IdentityTable())
        others[learnt] = others.get(learnt, 0) + 1
        if others[learnt] == EPOCHS:
            self._compare(learnt, loader)

    def _compare(self, learnt, loader):
        root, indices = find_part(loader)
        other, others = find_part(learnt)
        if indices is None or others is None or not hold_the_same(root, other):
            return
        shared = len(indices & others)
        if 0 < shared < min(len(indices), len(others)):
            self.report(
                f"{shared} of the {len(indices)} samples that are evaluated are among the "
                f"{len(others)} that are trained on",
                api="torch.utils.data.random_split",
            )


def find_part(loader):
    """The dataset that a loader takes samples of, and the indices of these; None where unknown."""
    dataset, sampler = loader.dataset, find_sampler(loader)
    if type(sampler) is SubsetRandomSampler:
        indices = list(map(int, sampler.indices))
    elif type(sampler) in WHOLE and isinstance(dataset, Subset):
        indices = range(len(dataset))
    else:
        return None, None
    while isinstance(dataset, Subset):
        indices = [int(dataset.indices[index]) for index in indices]
        dataset = dataset.dataset
    return dataset, set(indices)


def hold_the_same(dataset, other):
    """Whether two datasets are one, or hold the same data beside their transforms."""
    if dataset is other:
        return True
    if type(dataset) is not type(other) or len(dataset) != len(other):
        return False
    names = [name for name, value in vars(dataset).items() if is_data(value, len(dataset))]
    return bool(names) and all(
        are_equal(vars(dataset)[name], vars(other).get(name)) for name in names
    )


def is_data(value, size):
    """Whether a value has an item for each sample, or is several tensors that have."""
    if isinstance(value, tuple) and value and isinstance(value[0], torch.Tensor):
        return all(is_data(tensor, size) for tensor in value)
    try:
        return not isinstance(value, (str, dict)) and len(value) == size
    except TypeError:
        return False


def are_equal(first, second):
    """Whether two values with items are the same; not where nothing tells."""
    if isinstance(first, tuple):
        pairs = zip(first, second)  # noqa: B905
        return len(first) == len(second) and all(are_equal(*pair) for pair in pairs)
    try:
        same = first == second
        return bool(same.all()) if hasattr(same, "all") else same is True
    except Exception:
        return False
