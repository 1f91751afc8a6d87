"""Losses that take logits do not get probabilities."""

import torch

from sanitizer_invariants.tools.graphs import find_origin, kind
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.probabilities import are_probabilities

SQUASHES = {
    "cross_entropy": ("Softmax",),
    "binary_cross_entropy_with_logits": ("Sigmoid", "Softmax"),
}
# Rows of anything else may add up to one by accident, but not all rows of three batches that follow
# each other.
BATCHES = 3
# To read numbers makes a GPU wait: so many calls in a row are looked at of so many.
ROW, EVERY = 50, 500


class ProbabilitiesAsLogits(Invariant):
    """What `cross_entropy` and `binary_cross_entropy_with_logits` get as logits is no softmax,
    or sigmoid.

    Why: they apply it themselves. Twice applied it cannot tell sure from unsure, and the loss has a
    floor above zero.

    Seen by the graph, or (cross_entropy only, as numbers between 0 and 1 may be logits) because all
    rows of three calls in a row, at one line, are probabilities.

    Excepted: log-probabilities, to which the softmax does nothing; probabilities that are scaled or
    shifted.

    Cost: a walk over a few nodes of the graph; in 50 of 500 calls of cross_entropy a look at the
    first row of numbers, and for what is not negative one sum over the classes.
    """

    NAME = "probabilities-as-logits"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.rows, self.calls = {}, 0

    def after_loss(self, name, arguments, output):
        logits = arguments.get("input")
        if (
            name not in SQUASHES
            or not isinstance(logits, torch.Tensor)
            or not logits.numel()
            or logits.is_meta
        ):
            return
        function = kind(find_origin(logits.grad_fn))
        if function in SQUASHES[name]:
            self._report(name, function.lower())
        elif name == "cross_entropy":
            self.calls += 1
            if self.calls % EVERY < ROW:
                self._look_at_numbers(logits.detach())

    def _look_at_numbers(self, logits):
        if are_probabilities(logits):
            where = self.program.here()
            self.rows[where] = self.rows.get(where, 0) + 1
            if self.rows[where] == BATCHES:
                self._report("cross_entropy", "softmax")
        elif self.rows:
            self.rows.pop(self.program.here(), None)

    def _report(self, name, function):
        self.report(
            f"{name} takes logits and gets the output of a {function}: it is applied twice",
            api=f"torch.nn.functional.{name}",
        )
