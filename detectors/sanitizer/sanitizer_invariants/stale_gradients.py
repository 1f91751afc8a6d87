"""Gradients of a step that has been taken are not in the next one."""

import weakref

import torch

from sanitizer_invariants.base import Invariant, named, parameters


class StaleGradients(Invariant):
    """Between two steps of an optimizer, each gradient that a backward pass adds to was cleared before the next step.

    Why: a step uses a gradient up. What is still there is added to the next one, so that the update is by the sum of
    all gradients so far, which no published method wants: momentum has a decay, accumulation comes before the step.

    Excepted: gradients that a backward pass does not add to (unused parameters), those that are changed by hand between
    the steps, in whatever way, and steps that follow each other without a backward pass.

    Cost: a copy of at most 64 numbers of each gradient after a step, and a comparison of them before a backward pass.
    """

    NAME = "stale-gradients"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.left, self.added = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()

    def before_step(self, optimizer):
        """Sums that are cleared before the step do no harm, as those of a discriminator in the generator's turn."""
        added, where = self.added.pop(optimizer, ((), None))
        added = [one() for one, sample in added if _is_left(one(), sample)]
        if added and self.program.steps(optimizer):
            self._say(optimizer, added, where)

    def after_step(self, optimizer):
        self.left[optimizer] = _samples(parameters(optimizer))

    def before_backward(self, tensors):
        for optimizer, left in list(self.left.items()):
            self.left[optimizer] = [(one, sample) for one, sample in left if _is_left(one(), sample)]
        for optimizer, (added, where) in list(self.added.items()):
            self.added[optimizer] = [(one, sample) for one, sample in added if _is_left(one(), sample)], where

    def after_backward(self, tensors):
        for optimizer, (added, where) in list(self.added.items()):
            self.added[optimizer] = _samples(one() for one, _ in added), where
        for optimizer, left in list(self.left.items()):
            added = _samples(one() for one, sample in left if not _is_left(one(), sample))
            if added:
                self.added[optimizer] = added, self.program.here()
                del self.left[optimizer]

    def _say(self, optimizer, added, where):
        self.report(
            f"a backward pass adds to the gradients of the step before in {len(added)} of "
            f"{len(parameters(optimizer))} parameters: they were not cleared",
            api="torch.optim.Optimizer.zero_grad",
            parameter=named(self.program, added[0]),
            iteration=self.program.iteration_of(optimizer),
            where=where,
        )


def _samples(of):
    return [
        (weakref.ref(each), _sample(each.grad))
        for each in of
        if each is not None and each.grad is not None and not each.grad.is_sparse
    ]


def _sample(gradient):
    with torch.no_grad():
        return gradient.detach().reshape(-1)[:64].clone()


def _is_left(parameter, sample):
    """Whether the gradient is still that of the sample, and not zero."""
    if parameter is None or parameter.grad is None or parameter.grad.is_sparse or parameter.grad.numel() < len(sample):
        return False
    now = _sample(parameter.grad)
    return bool((sample != 0).any()) and now.shape == sample.shape and bool((now == sample).all())
