"""Clipping gets the gradients."""

import inspect
import types
import weakref
from collections.abc import Iterator

from sanitizer_invariants.base import Invariant, parameters


class Clip(Invariant):
    """A step of which gradients were to be clipped does not follow a clipping that was given no gradient at all.

    Why: who clips wants it done. A generator that was read before (by the optimizer, or an earlier clipping), or
    parameters that are in no optimizer (those of an old copy of the model), change nothing, while the optimizer goes on
    with gradients of any size.

    Excepted: clipping some of the parameters, and clipping for each module or group, of which one may be empty or
    frozen: between two steps one clipping that gets gradients is enough. So is no gradient at all at that moment. What
    is empty at its first reading may be so by configuration (a module without parameters).

    Cost: whether gradients are None, at each clipping.
    """

    NAME = "clip"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.vain, self.iterator, self.is_used_up = weakref.WeakKeyDictionary(), None, False

    def before_clip(self, parameters):
        """Whether all has been read: seen of a generator; of another iterator, kept here, at the second time."""
        is_generator = isinstance(parameters, types.GeneratorType)
        is_closed = is_generator and inspect.getgeneratorstate(parameters) == inspect.GEN_CLOSED
        is_iterator = isinstance(parameters, Iterator)
        self.is_used_up = is_closed or (is_iterator and parameters is self.iterator)
        self.iterator = parameters if is_iterator else None

    def after_clip(self, given, limit, norm):
        if not given and not self.is_used_up:
            return
        owned = {id(each) for optimizer in self.program.optimizers() for each in parameters(optimizer)}
        # Parameters of an optimizer that have no gradient now may have one in the next iteration.
        if any(each.grad is not None or id(each) in owned or not each.requires_grad for each in given):
            self.vain = weakref.WeakKeyDictionary({one: None for one in self.program.optimizers()})
            return
        for optimizer in self.program.optimizers():
            has_gradients = any(each.grad is not None for each in parameters(optimizer))
            if has_gradients and self.vain.get(optimizer, True):
                self.vain[optimizer] = (self.program.here(), len(given), "value" if norm is None else "norm")

    def before_step(self, optimizer):
        found = self.vain.pop(optimizer, None)
        if found is None:
            return
        where, count, kind = found
        foreign = f"{count} parameters that are in no optimizer and have no gradient"
        what = foreign if count else "nothing, an iterator that was read before,"
        self.report(
            f"gradients were clipped of {what}, and the step that follows uses gradients as large as they are",
            api=f"torch.nn.utils.clip_grad_{kind}_",
            iteration=self.program.iteration_of(optimizer),
            where=where,
        )
