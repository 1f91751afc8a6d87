"""A state that is loaded is the one that was kept."""

import sys
import weakref

import torch

from sanitizer_invariants.tools.invariant import Invariant, checksum_of, list_parameters


class LoadsItself(Invariant):
    """A state that a module gave out, and loads again after steps or loads of its weights,
    is not their own memory.

    Why: `state_dict()` gives out the parameters themselves. What is kept without a copy, as the
    best weights or as a backup, is changed by each step, and by each loading of other weights. To
    load it does nothing.

    Excepted: a state that is loaded before an optimizer of these weights has made a step, or they
    were loaded with another state: what reads a checkpoint, or takes the mean of other models, may
    fill the tensors that it is given. So does `torch.distributed.checkpoint`, whose loading is left
    out.

    Cost: the sum of one parameter for each state that is given out, and a look-up of it in the next
    step.
    """

    NAME = "loads-itself"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.entries, self.is_vain = {}, False

    def _changed(self, parameters):
        """These parameters are not what they were when a state was given out."""
        waiting = [value for value in self.entries.values() if not value.has_changed]
        if waiting:
            numbers = set(map(id, parameters))
            for reference in waiting:
                reference.has_changed = id(reference.parameter()) in numbers

    def after_step(self, optimizer):
        self._changed(list_parameters(optimizer))

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module) and not self.is_vain:
            self._changed(loaded.parameters())

    def after_state(self, module, state):
        trainable = (
            (name, parameter)
            for name, parameter in module.named_parameters()
            if parameter.requires_grad and parameter.numel()
        )
        name, parameter = next(trainable, (None, None))
        tensor = state.get(name) if hasattr(state, "get") else None
        if isinstance(tensor, torch.Tensor):
            self.entries = {
                key: entry for key, entry in self.entries.items() if entry.tensor() is not None
            }
            self.entries[id(tensor)] = StateEntry(tensor, parameter)

    def before_load(self, loaded, state):
        self.is_vain = False
        if (
            not isinstance(loaded, torch.nn.Module)
            or not hasattr(state, "get")
            or is_of_checkpoint()
        ):
            return
        parameters_by_name = dict(loaded.named_parameters())
        pairs = [
            (item, state.get(name)) for name, item in parameters_by_name.items() if item.numel()
        ]
        if not pairs or not all(
            isinstance(source, torch.Tensor) and is_same(item, source) for item, source in pairs
        ):
            return
        self.is_vain = True
        for _, tensor in pairs:
            entry = self.entries.get(id(tensor))
            is_given = entry is not None and entry.tensor() is tensor and entry.has_changed
            if is_given and entry.before != checksum_of(tensor):
                self.report(
                    "the state that is loaded is the memory of the weights themselves, which have "
                    "changed since it was given out: nothing comes back (copy it to keep it)",
                    api="torch.nn.Module.state_dict",
                )


class StateEntry:
    """The tensor of a state that stands for it, and whether its parameter has changed by a step or
    a load since.
    """

    def __init__(self, tensor, parameter):
        self.tensor, self.parameter = weakref.ref(tensor), weakref.ref(parameter)
        self.before, self.has_changed = checksum_of(tensor), False


def is_of_checkpoint():
    """Whether `torch.distributed.checkpoint` is at work,
    which makes steps of its own to have an optimizer's state.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("torch.distributed.checkpoint"):
            return True
        frame = frame.f_back
    return False


def is_same(first, second):
    if first is second:
        return True
    plain = first.layout == second.layout == torch.strided and not first.is_meta
    return plain and first.shape == second.shape and first.data_ptr() == second.data_ptr() != 0
