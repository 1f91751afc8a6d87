"""A state that is loaded is the one that was kept."""

import sys
import weakref

import torch

from sanitizer_invariants.base import Invariant, parameters, total


class LoadsItself(Invariant):
    """A state that a module gave out, and loads again after steps or loads of its weights, is not their own memory.

    Why: `state_dict()` gives out the parameters themselves. What is kept without a copy, as the best weights or as a
    backup, is changed by each step, and by each loading of other weights. To load it does nothing.

    Excepted: a state that is loaded before an optimizer of these weights has made a step, or they were loaded with
    another state: what reads a checkpoint, or takes the mean of other models, may fill the tensors that it is given. So
    does `torch.distributed.checkpoint`, whose loading is left out.

    Cost: the sum of one parameter for each state that is given out, and a look-up of it in the next step.
    """

    NAME = "loads-itself"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.given, self.is_vain = {}, False

    def _changed(self, parameters):
        """These parameters are not what they were when a state was given out."""
        waiting = [each for each in self.given.values() if not each.has_changed]
        if waiting:
            numbers = set(map(id, parameters))
            for each in waiting:
                each.has_changed = id(each.parameter()) in numbers

    def after_step(self, optimizer):
        self._changed(parameters(optimizer))

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module) and not self.is_vain:
            self._changed(loaded.parameters())

    def after_state(self, module, state):
        own = ((name, each) for name, each in module.named_parameters() if each.requires_grad and each.numel())
        name, parameter = next(own, (None, None))
        tensor = state.get(name) if hasattr(state, "get") else None
        if isinstance(tensor, torch.Tensor):
            self.given = {key: kept for key, kept in self.given.items() if kept.tensor() is not None}
            self.given[id(tensor)] = Given(tensor, parameter)

    def before_load(self, loaded, state):
        self.is_vain = False
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "get") or is_of_checkpoint():
            return
        own = dict(loaded.named_parameters())
        pairs = [(each, state.get(name)) for name, each in own.items() if each.numel()]
        if not pairs or not all(isinstance(one, torch.Tensor) and is_same(each, one) for each, one in pairs):
            return
        self.is_vain = True
        for _, tensor in pairs:
            given = self.given.get(id(tensor))
            is_given = given is not None and given.tensor() is tensor and given.has_changed
            if is_given and given.before != total(tensor):
                self.report(
                    "the state that is loaded is the memory of the weights themselves, which have changed since it was "
                    "given out: nothing comes back (copy it to keep it)",
                    api="torch.nn.Module.state_dict",
                )


class Given:
    """The tensor of a state that stands for it, and whether its parameter has changed by a step or a load since."""

    def __init__(self, tensor, parameter):
        self.tensor, self.parameter = weakref.ref(tensor), weakref.ref(parameter)
        self.before, self.has_changed = total(tensor), False


def is_of_checkpoint():
    """Whether `torch.distributed.checkpoint` is at work, which makes steps of its own to have an optimizer's state."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("torch.distributed.checkpoint"):
            return True
        frame = frame.f_back
    return False


def is_same(left, right):
    if left is right:
        return True
    plain = left.layout == right.layout == torch.strided and not left.is_meta
    return plain and left.shape == right.shape and left.data_ptr() == right.data_ptr() != 0
