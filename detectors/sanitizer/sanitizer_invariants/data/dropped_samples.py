"""An evaluation looks at all samples."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

SHARE = 0.05


class DroppedSamples(Invariant):
    """An evaluation leaves out no last batch.

    Why: `drop_last=True` is for training, where other samples are left out in each epoch. In an
    evaluation the samples of the last batch are never looked at, and which ones these are depends
    on the size of the batch: results of two sizes are not of the same data.

    A loader with `drop_last` whose length is no multiple of the size of its batches was read to its
    end, while modules in evaluation mode were called without gradients, and no optimizer stepped.
    An error where a twentieth of the data or more is left out; else advice.

    Said at the end of the program, of loaders that nothing was trained with. Excepted: several
    processes, which have to have batches of one size; streams.

    Cost: a look at what a loader is, in each evaluation.
    """

    NAME = "dropped-samples"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.current, self.loader, self.trained = None, None, IdentitySet()
        # By loader: what is to be said of it, if nothing is trained with it until the end.
        self.pending = IdentityTable()

    def before_epoch(self, loader):
        self._conclude()

    def after_batch(self, loader, batch):
        self.loader = None if loader is None else weakref.ref(loader)
        if loader is None or loader in self.pending or loader in self.trained:
            return
        if self.current is None or self.current.loader() is not loader:
            self.current = Reading(loader)
        self.current.batches += 1

    def before_forward(self, module, arguments, options):
        reading = self.current
        if reading is None or reading.is_evaluation is False or reading.called == reading.batches:
            return
        reading.called = reading.batches
        is_evaluated = not torch.is_grad_enabled() and copies.is_evaluating(copies.unwrap(module))
        reading.is_evaluation = is_evaluated
        reading.place = reading.place or self.program.here()

    def before_step(self, optimizer):
        loader = self.loader and self.loader()
        if loader is not None:
            self.trained.add(loader)
        self.current = None

    def end(self):
        self._conclude()
        for loader, report in list(self.pending.items()):
            if loader not in self.trained:
                self.report(**report)

    def _conclude(self):
        reading, self.current = self.current, None
        loader = reading and reading.loader()
        if loader is None or not reading.is_evaluation or copies.is_distributed():
            return
        count = count_dropped(loader)
        if not count or reading.batches != len(loader):
            return
        size = len(loader.dataset)
        self.pending[loader] = {
            "message": f"an evaluation leaves out {count} of {size} samples, the last batch: "
            "`drop_last` is set",
            "api": "torch.utils.data.DataLoader",
            "iteration": self.program.iteration,
            "where": reading.place,
            "severity": "error" if count >= SHARE * size else "info",
        }


class Reading:
    """One way through a loader."""

    def __init__(self, loader):
        self.loader, self.batches, self.called = weakref.ref(loader), 0, 0
        # None: no module was called yet.
        self.is_evaluation, self.place = None, None


def count_dropped(loader):
    """How many samples a loader leaves out; 0 where it is not known."""
    if not loader.drop_last or not loader.batch_size:
        return 0
    try:
        return len(loader.sampler) % loader.batch_size
    except TypeError:
        return 0
