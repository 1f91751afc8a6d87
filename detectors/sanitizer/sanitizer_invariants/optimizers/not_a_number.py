"""Weights stay numbers."""

import torch

from sanitizer_invariants.tools.hooks import PLAIN
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, find_name, is_sampled, list_parameters

STEPS = 3


class NotANumber(Invariant):
    """No step makes a parameter infinite or NaN, after which the training goes on.

    Why: whatever is computed from NaN is NaN. Nothing is learnt any more, and no error is raised.
    Where the loss is a number, and its gradient is none, the derivative does not exist where it was
    asked for: that of sqrt() at 0, or of the branch that `where` leaves out.

    Seen where it is still so after three more steps.

    Excepted: parameters that were infinite or NaN before the first step (a mask that is kept as
    one); steps that a GradScaler leaves out; programs that end, or load other weights, before
    three more steps; parameters of other classes than torch's own.

    Cost: a sum of each parameter after the first five steps, and then after each 50th.
    """

    NAME = "not-a-number"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.excepted = IdentityTable(), IdentityTable()
        # By optimizer: how many steps ago it broke, and what is to be said of it.
        self.broken, self.losses = IdentityTable(), []

    def before_backward(self, tensors):
        starts = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        self.losses = [start.detach() for start in starts if is_single(start)]

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if count == 1:
            bad = list_not_finite(list_parameters(optimizer))
            self.excepted[optimizer] = {id(parameter) for parameter in bad}

    def after_step(self, optimizer):
        if optimizer not in self.counts:
            return
        steps, message = self.broken.get(optimizer, (0, None))
        if steps > STEPS:
            return
        if message is None and not is_sampled(self.counts[optimizer], 50):
            return
        bad = self._list_bad(optimizer)
        if not bad:
            self.broken.pop(optimizer, None)
            return
        message = message or self._describe(optimizer, bad)
        self.broken[optimizer] = steps + 1, message
        if steps == STEPS:
            self.report(**message)

    def _list_bad(self, optimizer):
        excepted = self.excepted[optimizer]
        members = list_parameters(optimizer)
        return list_not_finite([member for member in members if id(member) not in excepted])

    def _describe(self, optimizer, bad):
        gradients = [parameter.grad for parameter in bad if parameter.grad is not None]
        if not list_not_finite(gradients):
            cause = "its gradient was finite: the step itself goes too far"
        elif self.losses and not list_not_finite(self.losses):
            cause = (
                "the loss was a finite number, and its gradient was not: a derivative does not "
                "exist there (of sqrt() or norm() at 0, or of the branch that where() leaves out)"
            )
        else:
            cause = "its gradient was so before the step"
        return {
            "message": f"a step makes {len(bad)} of {len(list_parameters(optimizer))} parameters "
            f"infinite or NaN, and training goes on; {cause}",
            "api": "torch.optim.Optimizer.step",
            "parameter": find_name(self.program, bad[0]),
            "iteration": self.program.iteration_of(optimizer),
        }


def list_not_finite(tensors):
    """Those of some tensors that have an infinite number or a NaN."""
    looked_at = [tensor for tensor in tensors if is_looked_at(tensor)]
    totals = [total_of(tensor) for tensor in looked_at]
    if not totals:
        return []
    device = totals[0].device
    total = torch.stack([number.to(device, torch.float32) for number in totals]).sum()
    if bool(total.isfinite()):
        return []
    # Large numbers may have an infinite sum.
    return [tensor for tensor in looked_at if not bool(tensor.detach().isfinite().all())]


def is_single(value):
    """Whether a value is one number: what is larger is not to be kept."""
    return isinstance(value, torch.Tensor) and value.numel() == 1


def is_looked_at(tensor):
    if type(tensor) not in PLAIN or tensor.is_meta or tensor.layout != torch.strided:
        return False
    return tensor.is_floating_point() or tensor.is_complex()


def total_of(tensor):
    """The sum of a tensor, in at least single precision."""
    values = tensor.detach()
    if values.is_complex():
        values = torch.view_as_real(values)
    return values.sum(dtype=torch.promote_types(values.dtype, torch.float32))
