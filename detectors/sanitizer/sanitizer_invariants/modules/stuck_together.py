"""Units of a layer become different ones."""

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import (
    Invariant,
    find_name,
    list_own_parameters,
    list_parameters,
)

LOOKS = (5, 10, 15, 20)


class StuckTogether(Invariant):
    """After 20 steps the rows of a matrix or their gradients differ,
    and of two zero matrices one gets a gradient.

    Why: units that begin alike and get the same gradients stay alike, and a layer of them is worth
    one unit. Where two matrices of a product are both zero, each gets a gradient of zero through
    the other, for ever.

    Excepted: gradients that are None; one matrix of zeros with a gradient of zero (what is before
    it, or behind it, may not be used yet); what has differed at one of four looks (steps 5, 10, 15
    and 20 of an optimizer).

    Cost: a comparison of the first two rows of each matrix at four steps.
    """

    NAME = "stuck-together"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.suspects = IdentityTable(), IdentityTable()

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if count not in LOOKS:
            return
        members = list_parameters(optimizer)
        before = self.suspects.get(optimizer, {id(parameter) for parameter in members})
        stuck = [
            parameter
            for parameter in members
            if id(parameter) in before and is_alike(parameter) and is_alike(parameter.grad)
        ]
        self.suspects[optimizer] = {id(parameter) for parameter in stuck}
        if count == LOOKS[-1]:
            self._judge(optimizer, stuck)

    def _judge(self, optimizer, stuck):
        for parameter in stuck:
            if bool(parameter.grad.any()):
                message = "all rows of a matrix are equal, and so are their gradients: it stays so"
                self._report(optimizer, parameter, message)
                return
        # All of them have gradients of zero.
        zeros = {id(parameter) for parameter in stuck if not bool(parameter.detach().any())}
        for module in self.program.modules():
            for part in module.modules():
                self._judge_zeros(optimizer, part, zeros)

    def _judge_zeros(self, optimizer, part, zeros):
        message = (
            "two matrices of one module are zero, and their gradients are: each waits for the other"
        )
        members, children = list_own_parameters(part), []
        for child in part.children():
            children += list_own_parameters(child)
        for group in (members, children):
            waiting = [parameter for parameter in group if id(parameter) in zeros]
            if len(waiting) > 1:
                self._report(optimizer, waiting[0], message)
                return

    def _report(self, optimizer, parameter, message):
        self.report(
            message,
            api="torch.nn.init",
            parameter=find_name(self.program, parameter),
            iteration=self.program.iteration_of(optimizer),
        )


def is_alike(tensor):
    """Whether all rows of a matrix are equal."""
    if tensor is None or tensor.dim() < 2 or len(tensor) < 2 or not tensor.numel():
        return False
    if tensor.layout != torch.strided or tensor.is_meta:
        return False
    rows = tensor.detach()
    return bool((rows[0] == rows[1]).all()) and bool((rows == rows[:1]).all())
