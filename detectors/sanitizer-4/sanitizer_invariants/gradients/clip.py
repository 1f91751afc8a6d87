"""Clipping gets the gradients."""

import inspect
import types
import weakref
from collections.abc import Iterator

from sanitizer_invariants.tools.invariant import Invariant, list_parameters


class Clip(Invariant):
    """A step of which gradients were to be clipped does not follow a clipping that was given no
    gradient at all.

    Why: who clips wants it done. A generator that was read before (by the optimizer, or an earlier
    clipping), or parameters that are in no optimizer (those of an old copy of the model), change
    nothing, while the optimizer goes on with gradients of any size.

    Excepted: clipping some of the parameters, and clipping for each module or group, of which one
    may be empty or frozen: between two steps one clipping that gets gradients is enough. So is no
    gradient at all at that moment. What is empty at its first reading may be so by configuration (a
    module without parameters).

    Cost: whether gradients are None, at each clipping.
    """

    NAME = "clip"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.ineffective, self.iterator, self.is_used_up = weakref.WeakKeyDictionary(), None, False

    def before_clip(self, parameters):
        """Whether all has been read: seen of a generator; of another iterator, kept here,
        at the second time.
        """
        is_generator = isinstance(parameters, types.GeneratorType)
        is_closed = is_generator and inspect.getgeneratorstate(parameters) == inspect.GEN_CLOSED
        is_iterator = isinstance(parameters, Iterator)
        self.is_used_up = is_closed or (is_iterator and parameters is self.iterator)
        self.iterator = parameters if is_iterator else None

    def after_clip(self, tensors, limit, norm):
        if not tensors and not self.is_used_up:
            return
        owned = {
            id(parameter)
            for optimizer in self.program.optimizers()
            for parameter in list_parameters(optimizer)
        }
        # Parameters of an optimizer that have no gradient now may have one in the next iteration.
        if any(
            tensor.grad is not None or id(tensor) in owned or not tensor.requires_grad
            for tensor in tensors
        ):
            self.ineffective = weakref.WeakKeyDictionary(
                {optimizer: None for optimizer in self.program.optimizers()}
            )
            return
        for optimizer in self.program.optimizers():
            has_gradients = any(
                parameter.grad is not None for parameter in list_parameters(optimizer)
            )
            if has_gradients and self.ineffective.get(optimizer, True):
                self.ineffective[optimizer] = (
                    self.program.here(),
                    len(tensors),
                    "value" if norm is None else "norm",
                )

    def before_step(self, optimizer):
        clipping = self.ineffective.pop(optimizer, None)
        if clipping is None:
            return
        where, count, kind = clipping
        foreign = f"{count} parameters that are in no optimizer and have no gradient"
        subject = foreign if count else "nothing, an iterator that was read before,"
        self.report(
            f"gradients were clipped of {subject}, and the step that follows uses gradients as "
            "large as they are",
            api=f"torch.nn.utils.clip_grad_{kind}_",
            iteration=self.program.iteration_of(optimizer),
            where=where,
        )
