"""Gradients that are always exactly zero."""

import weakref

from sanitizer_invariants.base import Invariant, named, parameters

STEPS = 20


class ZeroGradient(Invariant):
    """A parameter gets a gradient other than exactly zero in its first 20 steps, if others of its optimizer do.

    Why this is advice: an exact zero says that the loss does not depend on the parameter, and such a parameter is not
    trained. It may be meant: `loss + 0 * parameter.sum()` keeps an unused one in the graph, units may be dead, samples
    of a class or a row may be rare. A branch that is initialized with zeros has zeros behind it in one step or two, a
    warm-up from 0 in some more: 20 steps are beyond those.

    Excepted: gradients that are None or sparse, and a parameter that had another gradient once.

    Cost: one look at each gradient; further ones only at those that were zero so far, for 20 steps at most.
    """

    NAME, SEVERITY = "zero-gradient", "info"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.suspects = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if count > STEPS:
            return
        all_of_it = parameters(optimizer)
        suspects = self.suspects.get(optimizer, {id(each): 0 for each in all_of_it})
        zeros = [each for each in all_of_it if id(each) in suspects and _is_zero(each.grad)]
        self.suspects[optimizer] = {id(each): suspects[id(each)] + 1 for each in zeros}
        if count == STEPS:
            always = [each for each in zeros if self.suspects[optimizer][id(each)] == STEPS]
            if 0 < len(always) < len(all_of_it):
                self._say(optimizer, always)

    def _say(self, optimizer, always):
        self.report(
            f"the gradients of {len(always)} of {len(parameters(optimizer))} parameters have been exactly zero in "
            f"{STEPS} steps: the loss does not depend on them",
            api="torch.Tensor.backward",
            parameter=named(self.program, always[0]),
            iteration=self.program.iteration_of(optimizer),
        )


def _is_zero(gradient):
    if gradient is None or gradient.is_sparse or gradient.is_meta or not gradient.numel():
        return False
    return not bool(gradient.detach().any())
