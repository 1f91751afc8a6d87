"""A scaler does not skip all steps."""

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

STEPS = 40


class SkippedSteps(Invariant):
    """Of 40 steps in a row that a GradScaler is asked for, one is made.

    Why: a scaler skips a step whose gradients are infinite or not a number, and makes its scale
    half as large. A scale that began too high has come down after some twenty steps. If gradients
    stay infinite then, the reason is another one (a mask of -inf, a division by 0), and the network
    stays what it is: the weights never become NaN, which somebody would see.

    A step of any optimizer between them counts. Excepted: optimizers that look for infinite
    gradients by themselves (`fused=True`).

    Cost: a number for each step.
    """

    NAME = "skipped-steps"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.skipped = IdentityTable()

    def before_scaled_step(self, scaler, optimizer):
        count = self.skipped[optimizer] = self.skipped.get(optimizer, 0) + 1
        # The last of them may still be made.
        if count == STEPS + 1:
            self.report(
                f"the scaler has skipped {STEPS} steps in a row, since gradients are infinite or "
                "not a number: nothing is learnt",
                api="torch.amp.GradScaler.step",
            )

    def after_step(self, optimizer):
        # A wrapper is given to the scaler, and what is inside makes the step.
        self.skipped.clear()
