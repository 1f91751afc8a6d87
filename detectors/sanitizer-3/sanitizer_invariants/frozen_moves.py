"""What is frozen stays as it is."""

import weakref

from sanitizer_invariants.base import Invariant, named, parameters, total


class FrozenMoves(Invariant):
    """A step leaves a parameter as it is that was trained and does not require a gradient any more.

    Why: `requires_grad = False` ends its gradients. One that is left over, also one of zeros, makes the optimizer go
    on: it decays the weight, and follows its momentum. The part that is to be kept changes.

    Excepted: gradients that are None, as `zero_grad()` makes them; parameters that never required one (some code sets
    their gradients by hand); gradients that change from one step to the next, and are not zero.

    Cost: a look at a flag of each parameter at each step; two sums for what is frozen and has a gradient.
    """

    NAME = "frozen-moves"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.trained, self.gradients, self.before = weakref.WeakKeyDictionary(), {}, []

    def before_step(self, optimizer):
        own = parameters(optimizer)
        trained = self.trained.setdefault(optimizer, set())
        trained.update(id(each) for each in own if each.requires_grad and each.grad is not None)
        self.before = []
        frozen = [each for each in own if not each.requires_grad and each.grad is not None and id(each) in trained]
        for each in frozen:
            gradient = total(each.grad)
            if not each.grad.is_sparse and (gradient == self.gradients.get(id(each)) or not bool(each.grad.any())):
                self.before.append((each, total(each)))
            self.gradients[id(each)] = gradient

    def after_step(self, optimizer):
        before, self.before = self.before, []
        for parameter, old in before:
            if total(parameter) != old:
                self.report(
                    "a step changes a parameter that was frozen by requires_grad = False: a gradient is left over, and "
                    "momentum or weight decay go on",
                    api="torch.Tensor.requires_grad",
                    parameter=named(self.program, parameter),
                    iteration=self.program.iteration_of(optimizer) - 1,
                )
                return
