"""Gradients are clipped before they are used."""

from sanitizer_invariants.base import Invariant

TIMES = 3


class ClipAfterStep(Invariant):
    """Of three clippings one comes between a backward pass and the step that uses its gradients.

    Why: a clipping after the step changes gradients that nobody reads any more: the steps were by those of any size.

    Excepted: limits without effect (a million and more), by which some measure a norm, and programs that keep the
    gradients for a further step.

    Cost: a flag for each backward pass, step and clipping.
    """

    NAME = "clip-after-step"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.is_used, self.late, self.cleared = False, 0, True

    def after_backward(self, tensors):
        self.is_used = False

    def after_clip(self, given, limit, norm):
        if not any(each.grad is not None for each in given) or float(limit) >= 1e6:
            return
        self.late = self.late + 1 if self.is_used else 0
        if self.late == TIMES:
            kind = "value" if norm is None else "norm"
            self.report(
                "gradients are clipped after the step that used them, and before the next backward pass",
                api=f"torch.nn.utils.clip_grad_{kind}_",
            )

    def before_step(self, optimizer):
        # A further step by what was clipped after the first one uses it.
        self.late = 0 if self.is_used else self.late

    def after_step(self, optimizer):
        self.is_used = True
