"""Gradients are clipped before they are used."""

from sanitizer_invariants.tools.gradients import take_snapshots
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

TIMES = 3


class ClipAfterStep(Invariant):
    """Of three clippings one comes between a backward pass and the step that uses its gradients.

    Why: a clipping after the step changes gradients that nobody reads any more: the steps were by
    those of any size.

    A clipping is late if no backward pass came since the last step, and all gradients that it is
    given are those that a step has used, unchanged: those of another optimizer, and those that were
    computed by `autograd.grad`, are not.

    Excepted: limits without effect (a million and more), by which some measure a norm, and programs
    that keep the gradients for a further step.

    Cost: which tensor each gradient is, and in which version, after each step of a program that
    clips; whether it still is, at each clipping after a step.
    """

    NAME = "clip-after-step"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.is_used, self.clips, self.pending = False, False, 0
        self.snapshots, self.unchanged, self.clipped = IdentityTable(), set(), []

    def after_backward(self, tensors):
        self.is_used = False

    def before_clip(self, clipped):
        # A generator cannot be read here, and afterwards the gradients have another version.
        used = (
            [snapshot for snapshots in self.snapshots.values() for snapshot in snapshots]
            if self.is_used
            else ()
        )
        self.unchanged = {
            id(snapshot()) for snapshot in (*used, *self.clipped) if snapshot.has_its_version()
        }

    def after_clip(self, tensors, limit, norm):
        self.clips = True
        tensors = [tensor for tensor in tensors if tensor.grad is not None]
        if not tensors or float(limit) >= 1e6:
            return
        if not self.is_used or any(id(tensor) not in self.unchanged for tensor in tensors):
            self.pending = 0
            return
        self.pending += 1
        self.clipped = [
            snapshot for snapshot in self.clipped if snapshot.has_its_version()
        ] + take_snapshots(tensors, False)
        if self.pending == TIMES:
            kind = "value" if norm is None else "norm"
            self.report(
                "gradients are clipped after the step that used them, and before the next backward "
                "pass",
                api=f"torch.nn.utils.clip_grad_{kind}_",
            )

    def before_step(self, optimizer):
        """A further step by what was clipped after the first one uses it."""
        ids = {id(parameter) for parameter in list_parameters(optimizer)} if self.clipped else ()
        if any(snapshot.has_its_version() and id(snapshot()) in ids for snapshot in self.clipped):
            self.pending = 0

    def after_step(self, optimizer):
        self.is_used = True
        if self.clips:
            self.snapshots[optimizer] = take_snapshots(list_parameters(optimizer), False)
