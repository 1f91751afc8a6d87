"""A state that is loaded is the one that was kept."""

import sys
import weakref

import torch

from sanitizer_invariants.base import Invariant, total


class LoadsItself(Invariant):
    """A state that a module gave out, and loads again after its weights have changed, is not its own memory.

    Why: `state_dict()` gives out the parameters themselves. What is kept without a copy, as the best weights or as a
    backup, is changed by each step, and by each loading of other weights. To load it does nothing.

    Excepted: a state that is loaded before a step was made, or another state was loaded by the module: what reads a
    checkpoint may fill the tensors that it is given. So does `torch.distributed.checkpoint`, whose loading is left out.

    Cost: the sum of one parameter for each state that is given out.
    """

    NAME = "loads-itself"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.given, self.loads = {}, weakref.WeakKeyDictionary()

    def _now(self, module):
        """What changes when the weights do: steps, and what the module loads."""
        return self.program.iteration, self.loads.get(module, 0)

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module):
            self.loads[loaded] = self.loads.get(loaded, 0) + 1

    def after_state(self, module, state):
        name = next((name for name, each in module.named_parameters() if each.requires_grad and each.numel()), None)
        tensor = state.get(name) if hasattr(state, "get") else None
        if isinstance(tensor, torch.Tensor):
            self.given = {key: kept for key, kept in self.given.items() if kept[0]() is not None}
            self.given[id(tensor)] = weakref.ref(tensor), total(tensor), self._now(module)

    def before_load(self, loaded, state):
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "get") or is_of_checkpoint():
            return
        own = dict(loaded.named_parameters())
        pairs = [(each, state.get(name)) for name, each in own.items() if each.numel()]
        if not pairs or not all(isinstance(one, torch.Tensor) and is_same(each, one) for each, one in pairs):
            return
        for _, tensor in pairs:
            reference, before, then = self.given.get(id(tensor), (None, None, None))
            is_given = reference is not None and reference() is tensor and then != self._now(loaded)
            if is_given and before != total(tensor):
                self.report(
                    "the state that is loaded is the memory of the weights themselves, which have changed since it was "
                    "given out: nothing comes back (copy it to keep it)",
                    api="torch.nn.Module.state_dict",
                )


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
