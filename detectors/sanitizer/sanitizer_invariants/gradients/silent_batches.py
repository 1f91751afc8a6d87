"""A batch has something to learn from."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

STEPS, LATEST, LEAST = 30, 200, 4
SHARE, ALIKE = 1 / 3, 0.9


class SilentBatches(Invariant):
    """A loss that compares labels gets batches with several of them.

    Why: a loss of triplets or pairs asks for samples of two labels. A batch that holds one label
    has no triplet: its loss is 0, its gradient is exactly zero, and nothing is learnt from it. The
    mean loss looks small, as if all was learnt. How batches are drawn, a sampler's grouping or a
    data set that is sorted, decides it.

    Of the first 30 steps of an optimizer, or up to 200 until one has a gradient. In a third of them
    the gradients of all parameters are exactly zero. Nine tenths of these have a batch with one
    label, and no other step has.

    Excepted: zeros for which labels are no reason: a margin that is satisfied, rewards of 0,
    coefficients of 0; steps that a GradScaler leaves out; batches of fewer than four samples.

    Cost: a look at the gradients of 30 steps, and at the labels that modules or else batches hold.
    """

    NAME = "silent-batches"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tallies, self.is_over = IdentityTable(), False
        # Whether labels since the last step are one: of batches, and of what modules were given.
        self.drawn, self.given = [], []

    def after_batch(self, loader, batch):
        if not self.is_over:
            self.drawn += list_ones(batch)

    def before_forward(self, module, arguments, options):
        if not self.is_over and torch.is_grad_enabled():
            self.given += list_ones((arguments, options))

    def before_step(self, optimizer):
        tally = self.tallies.setdefault(optimizer, Tally())
        if not tally.is_over:
            # A loader may be a batch ahead of the step: what a loss module was given is surer.
            has_one_label = any(self.given or self.drawn)
            tally.add(list_parameters(optimizer), has_one_label)
            if tally.is_reason():
                self.report(
                    f"{tally.silent} of {tally.steps} steps have gradients of exactly zero: "
                    f"{tally.silent_alike} of these have a batch with one label, no other step has",
                    api="torch.utils.data.Sampler",
                    iteration=self.program.iteration_of(optimizer),
                )
        self.is_over = all(counted.is_over for counted in self.tallies.values())

    def after_step(self, optimizer):
        self.drawn, self.given = [], []


class Tally:
    """How many steps of an optimizer had no gradient, and how many had a batch with one label."""

    def __init__(self):
        self.steps, self.silent, self.silent_alike, self.others_alike = 0, 0, 0, 0
        self.is_over = False

    def add(self, parameters, has_one_label):
        is_silent = are_zero([parameter.grad for parameter in parameters])
        self.steps += 1
        self.silent += is_silent
        self.silent_alike += is_silent and has_one_label
        self.others_alike += not is_silent and has_one_label
        is_long = self.steps >= STEPS and self.silent < self.steps
        self.is_over = is_long or self.steps >= LATEST or self.others_alike > 0

    def is_reason(self):
        """Whether there are enough silent steps, and one label is the reason."""
        if not self.is_over or self.others_alike or self.silent == self.steps:
            return False
        is_often = self.silent >= SHARE * self.steps and self.steps >= STEPS
        return is_often and self.silent_alike >= ALIKE * self.silent


def list_ones(values):
    """For each tensor of labels whether all of them are the same."""
    labels = filter(holds_labels, copies.list_tensors(values))
    return [bool((tensor == tensor[0]).all()) for tensor in labels]


def holds_labels(tensor):
    """Whether a tensor is one whole number for each sample."""
    if tensor.dim() not in (1, 2) or tensor.numel() != len(tensor) or len(tensor) < LEAST:
        return False
    if tensor.is_floating_point() or tensor.is_complex():
        return False
    return not tensor.is_meta and tensor.layout == torch.strided


def are_zero(gradients):
    """Whether there are gradients, and all of them are zeros."""
    gradients = [gradient for gradient in gradients if gradient is not None]
    if any(gradient.is_meta or gradient.layout != torch.strided for gradient in gradients):
        return False
    return bool(gradients) and not any(bool(gradient.detach().any()) for gradient in gradients)
