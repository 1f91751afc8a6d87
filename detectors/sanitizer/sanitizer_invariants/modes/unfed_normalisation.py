"""Batch normalisation is evaluated with statistics of some data."""

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of, is_sampled


class UnfedNormalisation(Invariant):
    """No network whose weights have moved is evaluated with a batch normalisation that has seen no
    batch.

    Why: its running mean is 0 and its variance 1, as in the beginning, so that it normalises
    nothing, while the weights belong to a network that was normalised. An average of weights or a
    copy made by hand has the parameters and not the buffers: these are to be copied as well, or
    computed by `update_bn`.

    Seen at calls without gradients, in evaluation mode, of networks that were there at another
    call, or at the first step of an optimizer, with other weights; and only where another batch
    normalisation of that width has seen batches.

    Excepted: evaluations before the training; networks that are called in evaluation mode with
    gradients, which learn with these statistics; statistics that were loaded or written.

    Cost: a look at the normalisations of a module at the first five evaluations and then at each
    50th, and sums over the weights where one has seen nothing.
    """

    NAME = "unfed-normalisation"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.learning = IdentityTable(), IdentitySet()
        self.sums, self.begun = IdentityTable(), False

    def before_step(self, optimizer):
        if self.begun:
            return
        self.begun = True
        for module in self.program.modules():
            self._note(copies.unwrap(module))

    def _note(self, module):
        """Remember the weights of a network."""
        for part in list_normalisations(module):
            if is_unfed(part):
                self.sums.setdefault(part, sum_weights(module))

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if torch.is_grad_enabled():
            if not module.training:
                self.learning.add(module)
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if module in self.learning or not is_sampled(self.calls[module], 50):
            return
        unfed = [part for part in list_normalisations(module) if is_unfed(part)]
        if unfed and copies.is_evaluating(module):
            self._look_at(module, unfed)

    def _look_at(self, module, unfed):
        now = sum_weights(module)
        for part in unfed:
            if self.sums.setdefault(part, now) != now and self._has_fed(part):
                self.report(
                    f"a {type(part).__name__} that has seen no batch is evaluated, in a network "
                    "whose weights have moved: its mean is 0 and its variance 1, as in the "
                    "beginning",
                    api=f"torch.nn.{type(part).__name__}",
                )
                return

    def _has_fed(self, unfed):
        """Whether another normalisation of that width has seen batches."""
        parts = [part for module in self.program.modules() for part in module.modules()]
        return any(
            isinstance(part, _BatchNorm)
            and part.num_features == unfed.num_features
            and part.num_batches_tracked is not None
            and bool(part.num_batches_tracked > 0)
            for part in parts
        )


def list_normalisations(module):
    """The parts of a module that keep statistics of batches."""
    return [
        part
        for part in module.modules()
        if isinstance(part, _BatchNorm) and part.num_batches_tracked is not None
    ]


def is_unfed(part):
    """Whether a normalisation has the statistics that it began with."""
    if part.num_batches_tracked.is_meta or bool(part.num_batches_tracked != 0):
        return False
    has_mean = part.running_mean is not None and bool((part.running_mean != 0).any())
    has_variance = part.running_var is not None and bool((part.running_var != 1).any())
    return not has_mean and not has_variance


def sum_weights(module):
    return tuple(checksum_of(parameter) for parameter in module.parameters())
