"""Gradients are clipped by their own size, not by that of a scaled loss."""

import collections

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

# A limit that is meant for scaled gradients is of the size of the scale; one that is not is far
# below.
FAR = 1000
# As many clippings of parts are remembered until the step.
PARTS = 8


class ScaledClip(Invariant):
    """Gradients that a GradScaler is to unscale in its step are not clipped while they are still
    scaled.

    Why: scaled gradients are tens of thousands times too large, so that each of them is cut down to
    the limit, and divided by the scale afterwards. What is left is far below the limit, and of the
    same length in every step.

    Excepted: a limit of more than a thousandth of the scale, which somebody may have scaled with
    it; clipping that changes nothing; scalers that are switched off; steps that are not the
    scaler's.

    Cost: a look-up at each clipping while a scaler is used. Only where gradients are still scaled
    is the norm looked at, for which a GPU has to be waited.
    """

    NAME = "scaled-clip"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.scales, self.unscaled, self.clipped = (
            False,
            IdentitySet(),
            IdentityTable(),
        )

    def after_scale(self, scaler, outputs):
        self.scales = scaler.is_enabled()

    def after_unscale(self, scaler, optimizer):
        self.unscaled.add(optimizer)

    def after_clip(self, tensors, limit, norm):
        if not self.scales:
            return
        ids = {id(tensor) for tensor in tensors if tensor.grad is not None}
        for optimizer in self.program.optimizers():
            if optimizer not in self.unscaled and any(
                id(parameter) in ids for parameter in list_parameters(optimizer)
            ):
                clipped = self.clipped.setdefault(optimizer, collections.deque(maxlen=PARTS))
                clipped.append((float(limit), norm, self.program.here()))

    def before_scaled_step(self, scaler, optimizer):
        self.unscaled.discard(optimizer)
        clippings = self.clipped.pop(optimizer, ())
        if not clippings or not scaler.is_enabled():
            return
        scale = scaler.get_scale()
        for limit, norm, where in clippings:
            if scale > FAR * limit and (norm is None or bool(norm > limit)):
                self._report(optimizer, scale, limit, "value" if norm is None else "norm", where)

    def _report(self, optimizer, scale, limit, kind, where):
        self.report(
            f"gradients that are still multiplied by {scale:g} are clipped to {limit:g}, and "
            "divided by the scale afterwards: unscale_ comes first",
            api=f"torch.nn.utils.clip_grad_{kind}_",
            iteration=self.program.iteration_of(optimizer),
            where=where,
        )
