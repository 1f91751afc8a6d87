"""Gradients that were computed are used."""

import weakref

import torch

from sanitizer_invariants.tools.graphs import find_roots, walk
from sanitizer_invariants.tools.invariant import Invariant, checksum_of, list_parameters

STEPS, LIMIT, NODES = 5, 100, 2000


class DiscardedGradients(Invariant):
    """What a backward pass has computed is not cleared before a step uses it, step after step.

    Why: who accumulates the gradients of several passes clears them once for each step. With
    `zero_grad` in front of each pass the step is by the last one alone: the others are computed in
    vain, and the batch is as many times smaller than meant.

    Of the first hundred steps five in a row have at least one pass before them whose gradients were
    cleared, by `zero_grad` of the optimizer or its module, in a program with one optimizer.

    Excepted: programs that have moved a weight in between (a perturbed point), whose step is by
    gradients that were put there by hand (clipped for each sample, or projected), whose losses
    have gradients for other tensors than parameters (an adversarial input), or that go back twice
    through one call (a gradient for each term); several optimizers; skipped steps of a GradScaler.

    Cost: a walk over at most 2000 nodes, the sum of one small parameter, and its version, for each
    pass of the first hundred steps.
    """

    NAME = "discarded-gradients"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.is_off, self.pending, self.discarded = False, False, 0
        self.steps, self.looked_at = 0, 0
        self.place, self.mark, self.gradient, self.version = None, None, None, None
        self.is_called = False

    def before_backward(self, tensors):
        if self.is_off:
            return
        nodes = walk(find_roots(tensors), NODES)
        leaves = [node.variable for node in nodes if hasattr(node, "variable")]
        self.is_off = not all(isinstance(leaf, torch.nn.Parameter) for leaf in leaves)

    def before_forward(self, module, arguments, options):
        self.is_called = True
        if not self.is_off and torch.is_grad_enabled():
            tensors = self.program.list_given(arguments, options)
            self.is_off = any(
                tensor.requires_grad
                and tensor.is_leaf
                and not isinstance(tensor, torch.nn.Parameter)
                for tensor in tensors
            )

    def after_backward(self, tensors):
        optimizers = [] if self.is_off else self.program.optimizers()
        if len(optimizers) != 1:
            self.is_off = True
            return
        parameter = find_smallest(optimizers[0])
        was_put = self.pending and not self._is_same_gradient(parameter)
        if was_put or (self.discarded and not self.is_called):
            self.is_off = True
            return
        self.is_called = False
        if parameter is not None:
            self.pending = True
            self.mark = weakref.ref(parameter), parameter._version, checksum_of(parameter)
            self.gradient, self.version = weakref.ref(parameter.grad), parameter.grad._version

    def _is_same_gradient(self, parameter):
        """Whether a parameter has the gradient that the pass before has made or added to."""
        return self.mark[0]() is not parameter or self.gradient() is parameter.grad

    def after_clip(self, parameters, limit, norm):
        self._note_version()

    def after_unscale(self, scaler, optimizer):
        self._note_version()

    def _note_version(self):
        gradient = self.gradient and self.gradient()
        if gradient is not None:
            self.version = gradient._version

    def before_zero_grad(self, optimizer):
        if self.is_off or not self.pending:
            return
        self.pending = False
        if self._has_moved():
            self.is_off = True
            return
        self.discarded += 1
        self.place = self.program.here()

    def before_scaled_step(self, scaler, optimizer):
        self.pending = False

    def before_step(self, optimizer):
        if self.is_off:
            return
        parameter = self.mark and self.mark[0]()
        gradient = None if parameter is None else parameter.grad
        if gradient is not None and self.pending:
            is_by_hand = self.gradient() is not gradient or gradient._version != self.version
            self.is_off = self.is_off or is_by_hand
            if is_by_hand:
                return
        self.looked_at += 1
        # Where nothing is left to step by, more is wrong than that.
        self.steps = self.steps + 1 if self.discarded and self.pending else 0
        if self.steps == STEPS:
            self.is_off = True
            self.report(
                "the gradients of a backward pass are cleared before a step has used them, in each "
                f"of {STEPS} steps in a row: only the last pass counts",
                api="torch.optim.Optimizer.zero_grad",
                where=self.place,
            )
        self.is_off = self.is_off or self.looked_at >= LIMIT
        self.discarded, self.pending = 0, False

    def _has_moved(self):
        reference, version, before = self.mark
        parameter = reference()
        if parameter is None or parameter._version != version:
            return True
        return checksum_of(parameter) != before


def find_smallest(optimizer):
    """The smallest parameter that has a gradient."""
    fitting = [
        parameter
        for parameter in list_parameters(optimizer)
        if parameter.grad is not None and parameter.layout == torch.strided
    ]
    return min(fitting, key=lambda parameter: parameter.numel(), default=None)
