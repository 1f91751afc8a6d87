"""Units of a layer become different ones."""

import weakref

import torch

from sanitizer_invariants.base import Invariant, named, parameters

LOOKS = (5, 10, 15, 20)


class StuckTogether(Invariant):
    """After 20 steps the rows of a matrix or their gradients differ, and of two zero matrices one gets a gradient.

    Why: units that begin alike and get the same gradients stay alike, and a layer of them is worth one unit. Where two
    matrices of a product are both zero, each gets a gradient of zero through the other, for ever.

    Excepted: gradients that are None; one matrix of zeros with a gradient of zero (what is before it, or behind it, may
    not be used yet); what has differed at one of four looks (steps 5, 10, 15 and 20 of an optimizer).

    Cost: a comparison of the first two rows of each matrix at four steps.
    """

    NAME = "stuck-together"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.suspects = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if count not in LOOKS:
            return
        own = parameters(optimizer)
        before = self.suspects.get(optimizer, {id(each) for each in own})
        stuck = [each for each in own if id(each) in before and is_alike(each) and is_alike(each.grad)]
        self.suspects[optimizer] = {id(each) for each in stuck}
        if count == LOOKS[-1]:
            self._judge(optimizer, stuck)

    def _judge(self, optimizer, stuck):
        zeros = [each for each in stuck if not bool(each.grad.any())]
        for each in stuck:
            if bool(each.grad.any()):
                self._say(optimizer, each, "all rows of a matrix are equal, and so are their gradients: it stays so")
                return
        zeros = [each for each in zeros if not bool(each.detach().any())]
        for module in self.program.modules():
            for part in module.modules():
                both = [each for each in part.parameters(recurse=False) if any(each is one for one in zeros)]
                children = [each for child in part.children() for each in child.parameters(recurse=False)]
                pairs = [each for each in children if any(each is one for one in zeros)]
                if len(both) > 1 or len(pairs) > 1:
                    message = "two matrices of one module are zero, and their gradients are: each waits for the other"
                    self._say(optimizer, (both or pairs)[0], message)
                    return

    def _say(self, optimizer, parameter, message):
        self.report(
            message,
            api="torch.nn.init",
            parameter=named(self.program, parameter),
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
