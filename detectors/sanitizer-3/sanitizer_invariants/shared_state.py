"""The state of an optimizer is its own."""

import weakref

import torch

from sanitizer_invariants.base import Invariant, named, sampled


class SharedState(Invariant):
    """Two parameters do not have a momentum, or another state of their shape, in the same memory.

    Why: a step of one changes the state of the other. `state_dict()` of an optimizer gives out its own tensors, and
    `load_state_dict` of another keeps those that it need not convert.

    Excepted: an optimizer that has handed its state over and steps no more; state of another shape than the parameter
    (a counter, a common factor), and parameters that are the same memory themselves.

    Cost: a look at the state of all optimizers, for the first five steps of each and then for each 100th.
    """

    NAME = "shared-state"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.sharers = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if not sampled(self.counts[optimizer], 100):
            return
        own = {kept.data_ptr(): parameter for parameter, kept in states(optimizer)}
        shared = {}
        for other in self.program.optimizers():
            for parameter, kept in states(other):
                owner = own.get(kept.data_ptr(), parameter)
                if owner is not parameter and owner.data_ptr() != parameter.data_ptr():
                    shared[other] = owner
        # One that has handed its state over, and steps no more, does no harm.
        found = [each for each in shared if each is optimizer or optimizer in self.sharers.get(each, ())]
        self.sharers[optimizer] = weakref.WeakSet(shared)
        if found:
            self._say(optimizer, shared[found[0]])

    def _say(self, optimizer, owner):
        self.report(
            "the state of an optimizer for one parameter is in the memory of that for another one: each step of one "
            "changes both",
            api="torch.optim.Optimizer.load_state_dict",
            parameter=named(self.program, owner),
            iteration=self.program.iteration_of(optimizer),
        )


def states(optimizer):
    """The parameters, each with a tensor of its state that has its shape."""
    found = []
    for parameter, state in list(optimizer.state.items()):
        if isinstance(parameter, torch.Tensor) and isinstance(state, dict) and parameter.numel() > 1:
            for each in state.values():
                is_plain = type(each) is torch.Tensor and each.layout == torch.strided and not each.is_meta
                if is_plain and each.shape == parameter.shape and each.data_ptr():
                    found.append((parameter, each))
    return found
