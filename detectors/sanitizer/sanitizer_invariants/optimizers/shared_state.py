"""The state of an optimizer is its own."""

import torch

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, find_name, is_sampled


class SharedState(Invariant):
    """Two parameters do not have a momentum, or another state of their shape, in the same memory.

    Why: a step of one changes the state of the other. `state_dict()` of an optimizer gives out its
    own tensors, and `load_state_dict` of another keeps those that it need not convert.

    Excepted: an optimizer that has handed its state over and steps no more; state of another shape
    than the parameter (a counter, a common factor), and parameters that are the same memory
    themselves.

    Cost: a look at the state of all optimizers, for the first five steps of each and then for each
    100th.
    """

    NAME = "shared-state"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.sharers = IdentityTable(), IdentityTable()

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if not is_sampled(self.counts[optimizer], 100):
            return
        by_memory = {tensor.data_ptr(): parameter for parameter, tensor in states(optimizer)}
        shared = {}
        for other in self.program.optimizers():
            for parameter, tensor in states(other):
                owner = by_memory.get(tensor.data_ptr(), parameter)
                if owner is not parameter and owner.data_ptr() != parameter.data_ptr():
                    shared[other] = owner
        # One that has handed its state over, and steps no more, does no harm.
        owners = [
            sharer
            for sharer in shared
            if sharer is optimizer or optimizer in self.sharers.get(sharer, ())
        ]
        self.sharers[optimizer] = IdentitySet(shared)
        if owners:
            self._report(optimizer, shared[owners[0]])

    def _report(self, optimizer, owner):
        self.report(
            "the state of an optimizer for one parameter is in the memory of that for another one: "
            "each step of one changes both",
            api="torch.optim.Optimizer.load_state_dict",
            parameter=find_name(self.program, owner),
            iteration=self.program.iteration_of(optimizer),
        )


def states(optimizer):
    """The parameters, each with a tensor of its state that has its shape."""
    pairs = []
    for parameter, state in list(optimizer.state.items()):
        if (
            isinstance(parameter, torch.Tensor)
            and isinstance(state, dict)
            and parameter.numel() > 1
        ):
            for value in state.values():
                is_plain = (
                    type(value) is torch.Tensor
                    and value.layout == torch.strided
                    and not value.is_meta
                )
                if is_plain and value.shape == parameter.shape and value.data_ptr():
                    pairs.append((parameter, value))
    return pairs
