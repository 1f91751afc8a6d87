"""Losses that take logits do not get probabilities."""

import torch

from sanitizer_invariants.base import Invariant

# What changes the shape of a tensor, its order or its type, and no number.
SHAPES = (
    "View", "ReshapeAlias", "UnsafeView", "Transpose", "T", "Permute", "Squeeze", "Unsqueeze", "Slice", "Select",
    "Index", "IndexSelect", "Clone", "ToCopy", "Alias", "Expand",
)  # fmt: skip
SQUASHES = {"cross_entropy": ("Softmax",), "binary_cross_entropy_with_logits": ("Sigmoid", "Softmax")}
# Rows of anything else may add up to one by accident, but not all rows of three batches that follow each other.
BATCHES = 3
# To read numbers makes a GPU wait: so many calls in a row are looked at of so many.
ROW, EVERY = 50, 500


class ProbabilitiesAsLogits(Invariant):
    """What `cross_entropy` and `binary_cross_entropy_with_logits` get as logits is no softmax, or sigmoid.

    Why: they apply it themselves. Twice applied it cannot tell sure from unsure, and the loss has a floor above zero.

    Seen by the graph, or (cross_entropy only, as numbers between 0 and 1 may be logits) because all rows of three calls
    in a row, at one line, are probabilities.

    Excepted: log-probabilities, to which the softmax does nothing; probabilities that are scaled or shifted.

    Cost: a walk over a few nodes of the graph; in 50 of 500 calls of cross_entropy a look at the first row of numbers,
    and for what is not negative one sum over the classes.
    """

    NAME = "probabilities-as-logits"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.rows, self.calls = {}, 0

    def after_loss(self, name, arguments, output):
        logits = arguments.get("input")
        if name not in SQUASHES or not isinstance(logits, torch.Tensor) or not logits.numel() or logits.is_meta:
            return
        made = source(logits)
        if made in SQUASHES[name]:
            self._say(name, made.lower())
        elif name == "cross_entropy":
            self.calls += 1
            if self.calls % EVERY < ROW:
                self._look_at_numbers(logits.detach())

    def _look_at_numbers(self, logits):
        if are_probabilities(logits):
            where = self.program.here()
            self.rows[where] = self.rows.get(where, 0) + 1
            if self.rows[where] == BATCHES:
                self._say("cross_entropy", "softmax")
        elif self.rows:
            self.rows.pop(self.program.here(), None)

    def _say(self, name, made):
        self.report(
            f"{name} takes logits and gets the output of a {made}: it is applied twice",
            api=f"torch.nn.functional.{name}",
        )


def source(tensor):
    """The kind of the function that gave a tensor its numbers, or None."""
    node = tensor.grad_fn
    while node is not None:
        kind = node.name().partition("Backward")[0]
        if kind not in SHAPES:
            return kind
        node = node.next_functions[0][0] if node.next_functions else None
    return None


def are_probabilities(logits):
    """Whether all rows are probabilities of two classes or more, up to rounding."""
    dim = 1 if logits.dim() > 1 else 0
    if not logits.dim() or logits.shape[dim] < 2 or not logits.is_floating_point():
        return False
    # The first row of logits nearly always tells.
    if bool((logits[:1] < 0).any()) or bool((logits < 0).any()):
        return False
    # Each of the numbers is rounded, and the sum each time that one is added.
    rounding = (logits.shape[dim] + 8) * torch.finfo(logits.dtype).eps
    return bool(((logits.double().sum(dim) - 1).abs() <= min(rounding, 0.01)).all())
