"""A validation is done in evaluation mode."""

import contextlib
import weakref

import torch
from torch.utils.data import Subset

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.modes import depends_on_mode, has_parameter_of

CALLS = 3


class NoEvaluationMode(Invariant):
    """A module that is trained with one DataLoader, and called without gradients for another,
    was told eval().

    Why: dropout and batch normalisation do something else in training. Without `eval()` a
    validation drops out, judges by the batches' own statistics, and changes the running ones by
    data that is not to be learned from.

    Seen at three calls in a row without gradients, with nothing but other calls between them, on
    batches of a loader by which no optimizer has stepped, nor by another loader of its dataset;
    said at the next step, or at the end.

    Excepted: modules of which any part was ever in evaluation mode, and those without dropout or
    running statistics; calls that are not for batches of a DataLoader (teachers, generators and
    targets of the training batches); modules whose outputs are learnt from through a module of
    another optimizer, as a generator's are through a discriminator (dropout at test time is the
    noise of some). Dropout for uncertainty in a program that never calls `eval()` is accused where
    its data are another dataset's.

    Cost: a look-up for each call of a module, and a look at what it is called with where there are
    several optimizers.
    """

    NAME = "no-evaluation-mode"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.loader, self.trained, self.owners = None, TrainedData(), IdentityTable()
        # No references to modules: at the end there are none any more.
        self.known, self.calls, self.learning = IdentitySet(), {}, IdentitySet()

    def after_batch(self, loader, batch):
        # A loader may have no length, and none is to be asked for.
        self.loader = None if loader is None else weakref.ref(loader)

    def after_mode(self, module, training):
        if not training:
            self._except(module.modules())

    def _except(self, modules):
        for module in modules:
            self.known.add(module)
            self.calls.pop(id(module), None)

    def before_forward(self, module, arguments, options):
        loader = self.loader() if self.loader is not None else None
        module = copies.unwrap(module)
        if module not in self.owners:
            return
        if torch.is_grad_enabled():
            self._learns(module, arguments, options)
            return
        if loader is None or self.trained.holds(loader) or module in self.known:
            return
        if not is_active(module) or any(part in self.known for part in module.modules()):
            return
        first = 0, weakref.ref(module), self.loader, self.program.iteration, self.program.here()
        count, *entry = self.calls.get(id(module), first)
        self.calls[id(module)] = count + 1, *entry

    def _learns(self, module, arguments, options):
        """What was called since its last step is excepted where outputs go into a module of another
        optimizer.
        """
        tensors = self.program.list_given(arguments, options)
        has_several = len(self.program.optimizers()) > 1
        if has_several and any(tensor.grad_fn is not None for tensor in tensors):
            owners = self.owners[module]
            strangers = []
            for trained in self.learning:
                if owners.isdisjoint(self.owners[trained]):
                    strangers.append(trained)
            self._except(strangers)
        self.learning.add(module)

    def before_step(self, optimizer):
        loader = self.loader() if self.loader is not None else None
        if loader is not None:
            self.trained.add(loader)
        if self.program.steps(optimizer) == 1:
            for module in self.program.modules():
                if has_parameter_of(optimizer, copies.unwrap(module)):
                    self.owners.setdefault(copies.unwrap(module), IdentitySet()).add(optimizer)
        self.learning = IdentitySet(
            learning for learning in self.learning if optimizer not in self.owners[learning]
        )
        self.end()

    def end(self):
        calls, self.calls = self.calls, {}
        for count, module, loader, iteration, where in calls.values():
            if count >= CALLS and not self.trained.holds(loader()):
                self._except([live for live in [module()] if live is not None])
                self.report(
                    "a module is called without gradients for data that it is not trained with, "
                    "and was never in evaluation mode: it drops out, or normalises by the batch",
                    api="torch.nn.Module.eval",
                    iteration=iteration,
                    where=where,
                )


class TrainedData:
    """The loaders by which an optimizer has stepped, and their datasets."""

    def __init__(self):
        self.loaders, self.datasets = IdentitySet(), weakref.WeakValueDictionary()

    def add(self, loader):
        if loader not in self.loaders:
            self.loaders.add(loader)
            # No weak reference can be to a list.
            with contextlib.suppress(TypeError):
                self.datasets[id(loader.dataset)] = loader.dataset

    def holds(self, loader):
        """Whether data of a loader are trained with: it, another one of its dataset,
        or of what it is a part of.
        """
        if loader is None:
            return False
        datasets = [loader.dataset]
        while isinstance(datasets[-1], Subset):
            datasets.append(datasets[-1].dataset)
        datasets_learnt = [loader.dataset for loader in self.loaders] + list(self.datasets.values())
        return any(dataset is learnt for dataset in datasets for learnt in datasets_learnt)


def is_active(module):
    return any(part.training and depends_on_mode(part) for part in module.modules())
