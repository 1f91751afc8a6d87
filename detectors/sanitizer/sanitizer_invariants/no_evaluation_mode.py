"""A validation is done in evaluation mode."""

import weakref

import torch

from sanitizer_invariants import twins
from sanitizer_invariants.base import Invariant
from sanitizer_invariants.trains_in_evaluation_mode import has_mode, holds

CALLS = 3


class NoEvaluationMode(Invariant):
    """A module that is trained with one DataLoader, and called without gradients for another, was told eval().

    Why: dropout and batch normalisation do something else in training. Without `eval()` a validation drops out, judges
    by the batches' own statistics, and changes the running ones by data that is not to be learned from.

    Seen at three calls in a row without gradients, with nothing but other calls between them, on batches of a loader by
    which no optimizer has stepped; said at the next step by another loader.

    Excepted: modules of which any part was ever in evaluation mode, and those without dropout or running statistics;
    calls that are not for batches of a DataLoader (teachers, generators and targets of the training batches).

    Cost: a look-up for each call of a module without gradients.
    """

    NAME = "no-evaluation-mode"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.loader, self.trained, self.owned = None, weakref.WeakSet(), weakref.WeakSet()
        self.known, self.calls = weakref.WeakSet(), weakref.WeakKeyDictionary()

    def after_batch(self, loader, batch):
        # A loader may have no length, and none is to be asked for.
        self.loader = None if loader is None else weakref.ref(loader)

    def after_mode(self, module, training):
        if not training:
            self.known.update(module.modules())

    def before_forward(self, module, arguments, options):
        loader = self.loader() if self.loader is not None else None
        module = twins.bare(module)
        if loader is None or torch.is_grad_enabled() or loader in self.trained or module in self.known:
            return
        if module not in self.owned or not is_active(module) or any(part in self.known for part in module.modules()):
            return
        count, where = self.calls.get(module, (0, None))
        self.calls[module] = count + 1, where or (self.program.iteration, self.program.here())

    def before_step(self, optimizer):
        loader = self.loader() if self.loader is not None else None
        if loader is not None:
            self.trained.add(loader)
        if self.program.steps(optimizer) == 1:
            self.owned.update(each for each in self.program.modules() if holds(optimizer, twins.bare(each)))
            self.owned.update([twins.bare(each) for each in self.owned])
        for module, (count, (iteration, where)) in list(self.calls.items()):
            del self.calls[module]
            if count >= CALLS and module not in self.known:
                self.known.add(module)
                self.report(
                    "a module is called without gradients for data that it is not trained with, and was never in "
                    "evaluation mode: it drops out, or normalises by the batch",
                    api="torch.nn.Module.eval",
                    iteration=iteration,
                    where=where,
                )


def is_active(module):
    return any(part.training and has_mode(part) for part in module.modules())
