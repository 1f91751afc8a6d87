"""A scaler does not skip all steps."""

import math

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of, list_parameters

STEPS, FACTOR = 40, 0.5


class SkippedSteps(Invariant):
    """Of 40 steps in a row that a GradScaler is asked for, one is made.

    Why: a scaler skips a step whose gradients are infinite or not a number, and makes its scale
    half as large. A scale that began too high has come down after some twenty steps. If gradients
    stay infinite then, the reason is another one (a mask of -inf, a division by 0), and the network
    stays what it is: the weights never become NaN, which somebody would see.

    A scale that comes down more slowly gets as many more steps. A step of any optimizer between
    them counts, and so does a parameter that moves: an optimizer may be the program's own.
    Excepted: optimizers that look for infinite gradients by themselves (`fused=True`).

    Cost: a number for each step; two sums over the parameters where half of so many are skipped.
    """

    NAME = "skipped-steps"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.skipped, self.sums = IdentityTable(), IdentityTable()

    def before_scaled_step(self, scaler, optimizer):
        count = self.skipped[optimizer] = self.skipped.get(optimizer, 0) + 1
        steps = count_steps(scaler)
        if count == steps // 2:
            self.sums[optimizer] = list_sums(optimizer)
        # The last of them may still be made.
        if count != steps + 1:
            return
        if self.sums.pop(optimizer, None) != list_sums(optimizer):
            self.skipped[optimizer] = 0
            return
        self.report(
            f"the scaler has skipped {steps} steps in a row, since gradients are infinite or "
            "not a number: nothing is learnt",
            api="torch.amp.GradScaler.step",
        )

    def after_step(self, optimizer):
        # A wrapper is given to the scaler, and what is inside makes the step.
        self.skipped.clear()


def count_steps(scaler):
    """After how many steps in a row a scale has come down as far as by 40 halves."""
    factor = getattr(scaler, "_backoff_factor", FACTOR)
    if not 0 < factor < 1:
        return math.inf
    return max(STEPS, math.ceil(STEPS * math.log(FACTOR) / math.log(factor)))


def list_sums(optimizer):
    """Sums that tell whether a parameter has moved, as text: nan is the same as nan."""
    return repr([checksum_of(parameter) for parameter in list_parameters(optimizer)])
