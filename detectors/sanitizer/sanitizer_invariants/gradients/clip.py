"""Clipping gets the gradients."""

import inspect
import types
from collections.abc import Iterator

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

STEPS = 5


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

    The same is said of gradients that are clipped between `zero_grad` and the backward pass, where
    there are none or only zeros, before each of five steps in a row.

    Cost: whether gradients are None, at each clipping, and whether all are zero.
    """

    NAME = "clip"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.ineffective, self.iterator, self.is_used_up = IdentityTable(), None, False
        # Where gradients were clipped before there were any, since the last step, and for how many
        # steps in a row.
        self.early, self.is_late, self.rows = None, False, IdentityTable()

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
        self._note_time(tensors, norm)
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
            for optimizer in self.program.optimizers():
                self.ineffective[optimizer] = None
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

    def _note_time(self, tensors, norm):
        """Note whether there is anything to clip yet."""
        gradients = [tensor.grad for tensor in tensors if tensor.grad is not None]
        if any(gradient.is_sparse or bool(gradient.any()) for gradient in gradients):
            self.is_late = True
        elif tensors:
            kind = "value" if norm is None else "norm"
            self.early = set(map(id, tensors)), self.program.here(), kind

    def _look_at_time(self, optimizer):
        """Say of clippings that all were before the backward pass."""
        early, is_late, self.early, self.is_late = self.early, self.is_late, None, False
        is_early = early is not None and not is_late
        is_early = is_early and any(
            parameter.grad is not None and id(parameter) in early[0]
            for parameter in list_parameters(optimizer)
        )
        self.rows[optimizer] = self.rows.get(optimizer, 0) + 1 if is_early else 0
        if self.rows[optimizer] == STEPS:
            self.report(
                "gradients are clipped before there are any, and the step that follows uses "
                "gradients as large as they are: the backward pass comes later",
                api=f"torch.nn.utils.clip_grad_{early[2]}_",
                iteration=self.program.iteration_of(optimizer),
                where=early[1],
            )

    def before_step(self, optimizer):
        self._look_at_time(optimizer)
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
