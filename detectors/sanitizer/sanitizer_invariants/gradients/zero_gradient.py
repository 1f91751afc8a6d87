"""Gradients that are always exactly zero."""

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, find_name, list_parameters

STEPS = 20


class ZeroGradient(Invariant):
    """A parameter gets a gradient other than exactly zero in its first 20 steps,
    if others of its optimizer do.

    Why this is advice: an exact zero says that the loss does not depend on the parameter, and such
    a parameter is not trained. It may be meant: `loss + 0 * parameter.sum()` keeps an unused one in
    the graph, units may be dead, samples of a class or a row may be rare. A branch that is
    initialized with zeros has zeros behind it in one step or two, a warm-up from 0 in some more: 20
    steps are beyond those.

    Excepted: gradients that are None or sparse, and a parameter that had another gradient once.

    Cost: one look at each gradient; further ones only at those that were zero so far, for 20 steps
    at most.
    """

    NAME, SEVERITY = "zero-gradient", "info"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.suspects = IdentityTable(), IdentityTable()

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if count > STEPS:
            return
        all_of_it = list_parameters(optimizer)
        suspects = self.suspects.get(optimizer, {id(parameter): 0 for parameter in all_of_it})
        zeros = [
            parameter
            for parameter in all_of_it
            if id(parameter) in suspects and _is_zero(parameter.grad)
        ]
        self.suspects[optimizer] = {
            id(parameter): suspects[id(parameter)] + 1 for parameter in zeros
        }
        if count == STEPS:
            always = [
                parameter for parameter in zeros if self.suspects[optimizer][id(parameter)] == STEPS
            ]
            if 0 < len(always) < len(all_of_it):
                self._report(optimizer, always)

    def _report(self, optimizer, always):
        self.report(
            f"the gradients of {len(always)} of {len(list_parameters(optimizer))} parameters have "
            f"been exactly zero in {STEPS} steps: the loss does not depend on them",
            api="torch.Tensor.backward",
            parameter=find_name(self.program, always[0]),
            iteration=self.program.iteration_of(optimizer),
        )


def _is_zero(gradient):
    if gradient is None or gradient.is_sparse or gradient.is_meta or not gradient.numel():
        return False
    return not bool(gradient.detach().any())
