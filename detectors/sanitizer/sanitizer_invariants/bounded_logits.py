"""Logits are free to be of any size and sign."""

from sanitizer_invariants.base import Invariant
from sanitizer_invariants.probabilities_as_logits import source

BOUNDED = {
    "cross_entropy": ("Relu", "Sigmoid", "Tanh", "Hardtanh", "Hardsigmoid"),
    "binary_cross_entropy_with_logits": ("Relu", "Tanh", "Hardtanh", "Hardsigmoid"),
}
CALLS = 3


class BoundedLogits(Invariant):
    """What `cross_entropy` and its like get as logits is not the output of a ReLU, sigmoid or tanh.

    Why: they apply softmax or sigmoid themselves, to numbers of any sign. From numbers between 0 and 1 or -1 and 1 no
    sure prediction can be made, so that the loss has a floor; numbers that are never negative can say no no, and where
    they are all zero nothing is learnt.

    Excepted: what is scaled or shifted afterwards (a clipped attention, a temperature), pooled outputs; less than three
    calls at a line. A sigmoid before `binary_cross_entropy_with_logits` is what `probabilities-as-logits` is about.

    Cost: a walk over a few nodes of the graph.
    """

    NAME = "bounded-logits"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls = {}

    def after_loss(self, name, arguments, output):
        if name not in BOUNDED or not output.requires_grad:
            return
        made = source(arguments["input"])
        if made in BOUNDED[name]:
            where = self.program.here()
            self.calls[where] = self.calls.get(where, 0) + 1
            if self.calls[where] == CALLS:
                self.report(
                    f"{name} takes logits, which may be of any size and sign, and gets the output of a {made.lower()}",
                    api=f"torch.nn.functional.{name}",
                )
