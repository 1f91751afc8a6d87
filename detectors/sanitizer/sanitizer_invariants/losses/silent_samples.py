"""Each place in a batch is learnt from."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import Samples

STEPS, KEPT, PARTS = 10, 4, 4


class SilentSamples(Invariant):
    """No place in the batches of a loader that shuffles is without gradients in each step.

    Why: which sample comes to which place is chance, and so all places are alike. Where the outputs
    for some of them never have a gradient, a slice, a mask or a length of another kind has cut them
    off from the loss: a part of the data is read, and not learnt from.

    Of a module that is given whole batches of such a loader in training: in ten steps with a batch
    of one size the gradients of all its outputs are exactly zero at the same places, and not at the
    others. An error where these are a quarter of the batch at most; more may be compared with the
    others without gradients, as prototypes are: that is advice.

    Excepted: batches that were joined to others before, or cut; batches of fewer than four samples.

    Cost: a hook on the outputs of the calls of ten steps.
    """

    NAME = "silent-samples"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.samples, self.records, self.sizes = Samples(), IdentityTable(), ()

    def after_batch(self, loader, batch):
        self.samples.note(loader, batch)
        self.sizes = {len(tensor) for tensor in copies.list_tensors(batch) if tensor.dim()}

    def after_forward(self, module, arguments, options, output):
        if not self.samples.kinds or not torch.is_grad_enabled() or not module.training:
            return
        record = self.records.get(module)
        if record is not None and record.is_done:
            return
        given = [t for t in self.program.list_given(arguments, options) if self.samples.is_one(t)]
        # Batches that were joined to others have another size.
        if not given or len(given[0]) not in self.sizes:
            return
        if record is None:
            record = self.records[module] = Record(len(given[0]), self.program.here())
        outputs = [tensor for tensor in copies.list_tensors(output) if tensor.grad_fn is not None]
        for tensor in outputs:
            if tensor.dim() and len(tensor) == record.size == len(given[0]):
                tensor.register_hook(record.note)

    def before_step(self, optimizer):
        for record in list(self.records.values()):
            silent = record.end_step()
            if silent:
                self._report(record, silent)

    def _report(self, record, silent):
        shown = ", ".join(map(str, silent[:KEPT])) + (", …" if len(silent) > KEPT else "")
        self.report(
            f"of {record.size} samples of a batch {len(silent)} never have a gradient, always at "
            f"the same places ({shown}): they are not learnt from",
            api="torch.nn.Module.__call__",
            where=record.place,
            severity="error" if len(silent) * PARTS <= record.size else "info",
        )


class Record:
    """At which places of a module's outputs there were gradients."""

    def __init__(self, size, place):
        self.size, self.place = size, place
        self.steps, self.is_done, self.has_gradient, self.heard = 0, False, None, False

    def note(self, gradient):
        if self.is_done or gradient.layout != torch.strided:
            return
        rows = (gradient.detach().reshape(self.size, -1) != 0).any(1)
        self.heard = True
        self.has_gradient = rows if self.has_gradient is None else self.has_gradient | rows

    def end_step(self):
        """The silent places, after the last step that is looked at."""
        if self.is_done or not self.heard:
            return []
        self.steps, self.heard = self.steps + 1, False
        if self.steps < STEPS:
            return []
        self.is_done = True
        silent = (~self.has_gradient).nonzero().flatten().tolist()
        return silent if len(silent) < self.size else []
