"""Steps have gradients to go by."""

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of, find_name, list_parameters

STEPS = 3


class NoGradient(Invariant):
    """Of three steps of an optimizer, between which backward passes are done,
    one has a gradient of a parameter.

    Why: a step in which all gradients are None does nothing. Once or twice that is an iteration
    that was skipped; three times, while nothing that the backward passes reach is in any optimizer,
    nothing is trained.

    Excepted: an optimizer whose turn it is not (one of another has gradients meanwhile), steps
    without a backward pass before each, and parameters that change although no gradient is there
    (some other code trains them).

    Cost: whether a gradient is None, up to the first that is not, at each step.
    """

    NAME = "no-gradient"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.passes, self.idle = 0, IdentityTable()

    def after_backward(self, tensors):
        self.passes += 1

    def before_step(self, optimizer):
        if any(parameter.grad is not None for parameter in list_parameters(optimizer)):
            # The turn of this one: the others wait.
            self.idle.clear()
            return
        totals = [checksum_of(parameter) for parameter in list_parameters(optimizer)]
        passes, steps, before = self.idle.get(optimizer, (None, 0, totals))
        if passes != self.passes and before == totals:
            self.idle[optimizer] = self.passes, steps + 1, totals
        if before != totals:
            self.idle.pop(optimizer, None)
        elif steps + 1 == STEPS and passes != self.passes and totals:
            self._report(optimizer)

    def _report(self, optimizer):
        members = list_parameters(optimizer)
        frozen = sum(not parameter.requires_grad for parameter in members)
        why = (
            f"{frozen} of them do not require one"
            if frozen
            else "no backward pass reaches them, or they are cleared"
        )
        self.report(
            f"in {STEPS} steps, with backward passes between them, none of the {len(members)} "
            f"parameters had a gradient: nothing is trained ({why})",
            api="torch.Tensor.requires_grad" if frozen else "torch.optim.Optimizer.step",
            parameter=find_name(self.program, members[0]),
            iteration=self.program.iteration_of(optimizer),
        )
