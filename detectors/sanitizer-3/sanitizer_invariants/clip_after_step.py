"""Gradients are clipped before they are used."""

import weakref

from sanitizer_invariants.base import Invariant, parameters
from sanitizer_invariants.stale_gradients import kept

TIMES = 3


class ClipAfterStep(Invariant):
    """Of three clippings one comes between a backward pass and the step that uses its gradients.

    Why: a clipping after the step changes gradients that nobody reads any more: the steps were by those of any size.

    A clipping is late if no backward pass came since the last step, and all gradients that it is given are those that a
    step has used, unchanged: those of another optimizer, and those that were computed by `autograd.grad`, are not.

    Excepted: limits without effect (a million and more), by which some measure a norm, and programs that keep the
    gradients for a further step.

    Cost: which tensor each gradient is, and in which version, after each step of a program that clips; whether it still
    is, at each clipping after a step.
    """

    NAME = "clip-after-step"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.is_used, self.clips, self.late = False, False, 0
        self.used, self.unchanged, self.clipped = weakref.WeakKeyDictionary(), set(), []

    def after_backward(self, tensors):
        self.is_used = False

    def before_clip(self, given):
        # A generator cannot be read here, and afterwards the gradients have another version.
        used = [one for left in self.used.values() for one in left] if self.is_used else ()
        self.unchanged = {id(one()) for one in (*used, *self.clipped) if one.has_its_version()}

    def after_clip(self, given, limit, norm):
        self.clips = True
        given = [each for each in given if each.grad is not None]
        if not given or float(limit) >= 1e6:
            return
        if not self.is_used or any(id(each) not in self.unchanged for each in given):
            self.late = 0
            return
        self.late += 1
        self.clipped = [one for one in self.clipped if one.has_its_version()] + kept(given, False)
        if self.late == TIMES:
            kind = "value" if norm is None else "norm"
            self.report(
                "gradients are clipped after the step that used them, and before the next backward pass",
                api=f"torch.nn.utils.clip_grad_{kind}_",
            )

    def before_step(self, optimizer):
        """A further step by what was clipped after the first one uses it."""
        own = {id(each) for each in parameters(optimizer)} if self.clipped else ()
        if any(one.has_its_version() and id(one()) in own for one in self.clipped):
            self.late = 0

    def after_step(self, optimizer):
        self.is_used = True
        if self.clips:
            self.used[optimizer] = kept(parameters(optimizer), False)
