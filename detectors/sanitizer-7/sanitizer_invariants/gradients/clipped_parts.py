"""Gradients are clipped when they are whole."""

import weakref

from sanitizer_invariants.tools.invariant import Invariant, list_parameters

STEPS, NO_LIMIT = 3, 1e6


class ClippedParts(Invariant):
    """What is clipped for a step is not clipped again after a further pass has added to it.

    Why: the limit is for the gradient that the step goes by. Clipped after each of several passes,
    what the first ones have brought is cut again and again, and the sum is the gradient of no
    batch.

    In three steps gradients were clipped, a backward pass has added to them, and they were clipped
    again.

    Excepted: limits without effect (a million and more), by which some measure a norm; gradients
    that were cleared in between; one clipping, as of an auxiliary loss before the main one.

    Cost: the version of each gradient, at each clipping, pass and step of programs that clip.
    """

    NAME = "clipped-parts"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        # What was clipped and not used yet: by the number of a parameter, its gradient's version.
        self.clipped, self.added, self.again = {}, set(), False
        self.steps, self.place = 0, None

    def after_clip(self, parameters, limit, norm):
        if float(limit) >= NO_LIMIT:
            return
        self.place = self.program.here()
        for parameter in parameters:
            if parameter.grad is not None:
                self.again = self.again or id(parameter) in self.added
                self.clipped[id(parameter)] = weakref.ref(parameter), parameter.grad._version

    def after_backward(self, tensors):
        for key, (reference, version) in self.clipped.items():
            parameter = reference()
            gradient = None if parameter is None else parameter.grad
            if gradient is not None and gradient._version != version:
                self.added.add(key)

    def before_zero_grad(self, optimizer):
        self._forget(optimizer)

    def before_step(self, optimizer):
        again, self.again = self.again, False
        self.steps += again
        self._forget(optimizer)
        if again and self.steps == STEPS:
            self.report(
                "gradients are clipped, a backward pass adds to them, and they are clipped again: "
                "the limit holds for parts of what the step goes by",
                api="torch.nn.utils.clip_grad_norm_",
                where=self.place,
            )

    def _forget(self, optimizer):
        if self.clipped:
            for parameter in list_parameters(optimizer):
                self.clipped.pop(id(parameter), None)
                self.added.discard(id(parameter))
