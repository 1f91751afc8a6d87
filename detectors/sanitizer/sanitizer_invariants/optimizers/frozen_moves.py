"""What is frozen stays as it is."""

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of, find_name, list_parameters


class FrozenMoves(Invariant):
    """A step leaves a parameter as it is that was trained and does not require a gradient any more.

    Why: `requires_grad = False` ends its gradients. One that is left over, also one of zeros, makes
    the optimizer go on: it decays the weight, and follows its momentum. The part that is to be kept
    changes.

    Excepted: gradients that are None, as `zero_grad()` makes them; parameters that never required
    one (some code sets their gradients by hand); gradients that change from one step to the next,
    and are not zero.

    Cost: a look at a flag of each parameter at each step; two sums for what is frozen and has a
    gradient.
    """

    NAME = "frozen-moves"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.trained, self.gradients, self.before = IdentityTable(), {}, []

    def before_step(self, optimizer):
        members = list_parameters(optimizer)
        trained = self.trained.setdefault(optimizer, set())
        trained.update(
            id(parameter)
            for parameter in members
            if parameter.requires_grad and parameter.grad is not None
        )
        self.before = []
        frozen = [
            parameter
            for parameter in members
            if not parameter.requires_grad
            and parameter.grad is not None
            and id(parameter) in trained
        ]
        for parameter in frozen:
            gradient = checksum_of(parameter.grad)
            if not parameter.grad.is_sparse and (
                gradient == self.gradients.get(id(parameter)) or not bool(parameter.grad.any())
            ):
                self.before.append((parameter, checksum_of(parameter)))
            self.gradients[id(parameter)] = gradient

    def after_step(self, optimizer):
        before, self.before = self.before, []
        for parameter, old in before:
            if checksum_of(parameter) != old:
                self.report(
                    "a step changes a parameter that was frozen by requires_grad = False: a "
                    "gradient is left over, and momentum or weight decay go on",
                    api="torch.Tensor.requires_grad",
                    parameter=find_name(self.program, parameter),
                    iteration=self.program.iteration_of(optimizer) - 1,
                )
                return
