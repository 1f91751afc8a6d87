"""Logits are free to be of any size and sign."""

from sanitizer_invariants.tools.graphs import find_origin, kind
from sanitizer_invariants.tools.invariant import Invariant

BOUNDED = {
    "cross_entropy": ("Relu", "Sigmoid", "Tanh", "Hardtanh", "Hardsigmoid"),
    "nll_loss": ("Relu", "Sigmoid", "Tanh", "Hardtanh", "Hardsigmoid", "Softmax"),
    "binary_cross_entropy_with_logits": ("Relu", "Tanh", "Hardtanh", "Hardsigmoid"),
}
CALLS = 3
# Between two logits that differ by as much, one class is 150 times as likely as the other.
WIDE = 5


class BoundedLogits(Invariant):
    """What `cross_entropy` and its like get as logits is not the output of a ReLU, sigmoid or tanh.

    Nor is what `log_softmax` gets before `nll_loss`, which both together are a cross-entropy; there
    no softmax, either.

    Why: they apply softmax or sigmoid themselves, to numbers of any sign. From numbers between 0
    and 1 or -1 and 1 no sure prediction can be made, so that the loss has a floor; numbers that are
    never negative can say no no, and where they are all zero nothing is learnt.

    Excepted: what is scaled or shifted afterwards (a clipped attention, a temperature), pooled
    outputs; bounds that are 5 apart or more, one of them below 0 (`Hardtanh(-30, 30)`); less than
    three calls at a line. A sigmoid before `binary_cross_entropy_with_logits` is what
    `probabilities-as-logits` is about.

    Cost: a walk over a few nodes of the graph.
    """

    NAME = "bounded-logits"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls = {}

    def after_loss(self, name, arguments, output):
        if name not in BOUNDED or not output.requires_grad:
            return
        node = takes_logits(name, arguments["input"])
        if kind(node) in BOUNDED[name] and not is_wide(node):
            where, taker = self.program.here(), "log_softmax" if name == "nll_loss" else name
            self.calls[where] = self.calls.get(where, 0) + 1
            if self.calls[where] == CALLS:
                self.report(
                    f"{taker} takes logits, which may be of any size and sign, and gets the output "
                    f"of a {kind(node).lower()}",
                    api=f"torch.nn.functional.{taker}",
                )


def takes_logits(name, logits):
    """The function that has made the logits of a loss, or None:
    for `nll_loss` those of a `log_softmax`.
    """
    node = find_origin(logits.grad_fn)
    if name != "nll_loss":
        return node
    return find_origin(node.next_functions[0][0]) if kind(node) == "LogSoftmax" else None


def is_wide(node):
    """Whether the bounds of a `hardtanh` let predictions be sure."""
    low, high = getattr(node, "_saved_min_val", 0), getattr(node, "_saved_max_val", 0)
    return low < 0 and high - low >= WIDE
