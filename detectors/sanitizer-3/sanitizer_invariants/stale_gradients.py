"""Gradients of a step that has been taken are not in the next one."""

import weakref

import torch

from sanitizer_invariants.base import Invariant, named, parameters

# Steps after which numbers of the gradients are kept in any case.
FIRST = 5


class StaleGradients(Invariant):
    """Between two steps of an optimizer, each gradient that a backward pass adds to was cleared before the next step.

    Why: a step uses a gradient up. What is still there is added to the next one, so that the update is by the sum of
    all gradients so far, which no optimizer of torch is made for: momentum has a decay, accumulation comes before the
    step, and what steps by sums on purpose (dual averaging) keeps them in its own state.

    Excepted: gradients that a backward pass does not add to (unused parameters), those that are changed by hand between
    the step and the pass, in whatever way, and steps that follow each other without a backward pass. What is changed
    between the pass and the step is clipped, averaged or unscaled: only what is zero then was cleared.

    Cost: whether each gradient is the same tensor in the same version. A write past autograd (`.data`) counts for no
    version: at most 64 numbers of each gradient are compared as well, in the first steps and, once versions have said
    that nothing was written, in all others.
    """

    NAME = "stale-gradients"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.left, self.added = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.suspected = weakref.WeakSet()

    def before_step(self, optimizer):
        """Sums that are cleared before the step do no harm, as those of a discriminator in the generator's turn."""
        added, where = self.added.pop(optimizer, ((), None))
        added = [one() for one in added if not one.is_cleared()]
        if added and self.program.steps(optimizer):
            self._say(optimizer, added, where)

    def after_step(self, optimizer):
        samples = optimizer in self.suspected or self.program.steps(optimizer) < FIRST
        self.left[optimizer] = kept(parameters(optimizer), samples)

    def before_backward(self, tensors):
        for optimizer, left in list(self.left.items()):
            if any(one.has_its_version() for one in left):
                self.suspected.add(optimizer)
            self.left[optimizer] = [one for one in left if one.is_as_it_was()]
        for optimizer, (added, where) in list(self.added.items()):
            self.added[optimizer] = [one for one in added if one.is_as_it_was()], where

    def after_backward(self, tensors):
        for optimizer, (added, where) in list(self.added.items()):
            self.added[optimizer] = kept((one() for one in added), True), where
        for optimizer, left in list(self.left.items()):
            added = kept((one() for one in left if not one.is_as_it_was()), True)
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


class Kept:
    """A parameter, and what its gradient was: which tensor, in which version, and, if asked for, some numbers."""

    def __init__(self, parameter, samples):
        self.parameter, gradient = weakref.ref(parameter), parameter.grad
        self.identity, self.version = id(gradient), gradient._version
        self.sample = sample(gradient) if samples else None

    def __call__(self):
        return self.parameter()

    def gradient(self):
        parameter = self.parameter()
        return None if parameter is None else parameter.grad

    def has_its_version(self):
        gradient = self.gradient()
        return gradient is not None and id(gradient) == self.identity and gradient._version == self.version

    def is_as_it_was(self):
        """Whether it is known that the gradient has not been changed or replaced, and is not zero."""
        if self.sample is None or not self.has_its_version():
            return False
        now = sample(self.gradient())
        return now.shape == self.sample.shape and bool((now != 0).any()) and bool((now == self.sample).all())

    def is_cleared(self):
        gradient = self.gradient()
        return gradient is None or gradient.is_sparse or not bool((sample(gradient) != 0).any())


def kept(of, samples):
    """What is kept of the parameters that have a gradient that can be compared."""
    return [Kept(each, samples) for each in of if each is not None and is_comparable(each.grad)]


def is_comparable(gradient):
    return gradient is not None and not gradient.is_sparse and not gradient.is_inference()


def sample(gradient):
    with torch.no_grad():
        return gradient.detach().reshape(-1)[:64].clone()
