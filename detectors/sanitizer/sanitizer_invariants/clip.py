"""Clipping gets the gradients."""

import weakref

from sanitizer_invariants.base import Invariant, parameters


class Clip(Invariant):
    """A step of which gradients were to be clipped does not follow a clipping that was given no gradient at all.

    Why: who clips wants it done. An empty list (of an exhausted generator, or a filter that lets nothing pass), or
    parameters that are in no optimizer (those of an old copy of the model), change nothing, while the optimizer goes on
    with gradients of any size.

    Excepted: clipping some of the parameters, and clipping for each module or group, of which one may be empty or
    frozen: between two steps one clipping that gets gradients is enough. So is no gradient at all at that moment.

    Cost: whether gradients are None, at each clipping.
    """

    NAME = "clip"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.vain = weakref.WeakKeyDictionary()

    def after_clip(self, given, limit, norm):
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
        what = f"{count} parameters that are in no optimizer and have no gradient" if count else "no parameters at all"
        self.report(
            f"gradients were clipped of {what}, and the step that follows uses gradients as large as they are",
            api=f"torch.nn.utils.clip_grad_{kind}_",
            iteration=self.program.iteration_of(optimizer),
            where=where,
        )
