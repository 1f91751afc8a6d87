"""Values are quantised by a range that was seen."""

import sys

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

FILE = "torch.ao.quantization.fake_quantize"


class UnfedObserver(Invariant):
    """No fake quantisation is at work whose observer was switched off before it has seen a value.

    Why: its scale is 1 and its zero point 0, as in the beginning. It rounds weights and activations
    to whole numbers. Observers are to see some batches before they are frozen.

    Of torch's fake quantisation, in a call of the network that goes through it.

    Excepted: fixed and learnt ranges; observers that are on, which see the values first; ranges
    that were loaded.

    Cost: a look at the parts of a module at the first five calls, and then at each 50th; a hook on
    such a part for that call.
    """

    NAME = "unfed-observer"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.handles = IdentityTable(), []

    def before_forward(self, module, arguments, options):
        self._remove()
        file, module = sys.modules.get(FILE), copies.unwrap(module)
        if file is None:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if is_sampled(self.calls[module], 50):
            unfed = [part for part in module.modules() if is_unfed(part, file.FakeQuantize)]
            self.handles = [part.register_forward_pre_hook(self._report) for part in unfed]

    def after_forward(self, module, arguments, options, output):
        self._remove()

    def _remove(self):
        """Take the hooks away, also those of a call that has failed."""
        handles, self.handles = self.handles, []
        for handle in handles:
            handle.remove()

    def _report(self, part, inputs):
        # What is switched on inside of the call comes before it.
        if is_unfed(part, type(part)):
            self.report(
                "a fake quantisation is on whose observer is off, and has seen nothing: its scale "
                "is 1, so that it rounds to whole numbers",
                api=f"torch.ao.quantization.{type(part).__name__}",
            )


def is_unfed(part, kind):
    """Whether a part quantises by the range that it began with, and learns no other."""
    if not isinstance(part, kind):
        return False
    is_frozen = bool(part.fake_quant_enabled[0]) and not bool(part.observer_enabled[0])
    observer = part.activation_post_process
    lowest, highest = getattr(observer, "min_val", None), getattr(observer, "max_val", None)
    if not is_frozen or lowest is None or highest is None:
        return False
    is_empty = not bool(torch.isfinite(lowest).any() or torch.isfinite(highest).any())
    return is_empty and bool((part.scale == 1).all()) and bool((part.zero_point == 0).all())
