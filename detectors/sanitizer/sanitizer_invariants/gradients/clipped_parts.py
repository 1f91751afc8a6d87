"""Gradients are clipped when they are whole."""

from sanitizer_invariants.tools.invariant import Invariant, list_parameters

STEPS, NO_LIMIT = 3, 1e6


class ClippedParts(Invariant):
    """After gradients were clipped, no backward pass adds to them before the step.

    Why: the limit is for the gradient that the step goes by. Clipped after each of several passes,
    what the first ones have brought is cut again and again, the sum is no gradient of any batch,
    and it may exceed the limit all the same.

    In three steps a backward pass has added to gradients that were clipped after the last step.

    Excepted: limits without effect (a million and more), by which some measure a norm; gradients
    that were cleared in between.

    Cost: the version of each gradient, at each clipping, pass and step of programs that clip.
    """

    NAME = "clipped-parts"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        # What was clipped and not used yet: parameter by number, with the gradient's version.
        self.clipped, self.added, self.steps, self.place = {}, False, 0, None

    def after_clip(self, parameters, limit, norm):
        if float(limit) >= NO_LIMIT:
            return
        if not self.added:
            self.place = self.program.here()
        for parameter in parameters:
            if parameter.grad is not None:
                self.clipped[id(parameter)] = parameter, parameter.grad, parameter.grad._version

    def after_backward(self, tensors):
        for parameter, gradient, version in self.clipped.values():
            if parameter.grad is gradient and gradient._version != version:
                self.added = True
                return

    def before_zero_grad(self, optimizer):
        self._forget(optimizer)

    def before_step(self, optimizer):
        if self.added and any(id(item) in self.clipped for item in list_parameters(optimizer)):
            self.added = False
            self.steps += 1
            if self.steps == STEPS:
                self.report(
                    "gradients are clipped, and then a backward pass adds to them: the limit holds "
                    "for parts of what the step goes by",
                    api="torch.nn.utils.clip_grad_norm_",
                    where=self.place,
                )
        self._forget(optimizer)

    def _forget(self, optimizer):
        for parameter in list_parameters(optimizer):
            self.clipped.pop(id(parameter), None)
