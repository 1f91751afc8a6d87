"""Steps have gradients to go by."""

import weakref

from sanitizer_invariants.base import Invariant, named, parameters, total

STEPS = 3


class NoGradient(Invariant):
    """Of three steps of an optimizer, between which backward passes are done, one has a gradient of a parameter.

    Why: a step in which all gradients are None does nothing. Once or twice that is an iteration that was skipped; three
    times, while nothing that the backward passes reach is in any optimizer, nothing is trained.

    Excepted: an optimizer whose turn it is not (one of another has gradients meanwhile), steps without a backward pass
    before each, and parameters that change although no gradient is there (some other code trains them).

    Cost: whether a gradient is None, up to the first that is not, at each step.
    """

    NAME = "no-gradient"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.passes, self.vain = 0, weakref.WeakKeyDictionary()

    def after_backward(self, tensors):
        self.passes += 1

    def before_step(self, optimizer):
        if any(each.grad is not None for each in parameters(optimizer)):
            # The turn of this one: the others wait.
            self.vain.clear()
            return
        totals = [total(each) for each in parameters(optimizer)]
        passes, steps, before = self.vain.get(optimizer, (None, 0, totals))
        if passes != self.passes and before == totals:
            self.vain[optimizer] = self.passes, steps + 1, totals
        if before != totals:
            self.vain.pop(optimizer, None)
        elif steps + 1 == STEPS and passes != self.passes and totals:
            self._say(optimizer)

    def _say(self, optimizer):
        members = parameters(optimizer)
        frozen = sum(not each.requires_grad for each in members)
        why = f"{frozen} of them do not require one" if frozen else "no backward pass reaches them, or they are cleared"
        self.report(
            f"in {STEPS} steps, with backward passes between them, none of the {len(members)} parameters had a "
            f"gradient: nothing is trained ({why})",
            api="torch.Tensor.requires_grad" if frozen else "torch.optim.Optimizer.step",
            parameter=named(self.program, members[0]),
            iteration=self.program.iteration_of(optimizer),
        )
