"""What adds up to one is no score."""

from sanitizer_invariants.tools.axes import signed
from sanitizer_invariants.tools.graphs import find_origin, kind
from sanitizer_invariants.tools.invariant import Invariant

CALLS = 3


class SoftmaxTwice(Invariant):
    """No softmax is taken of what a softmax has made.

    Why: its numbers are between 0 and 1, so that the second softmax makes them nearly even: the
    largest of ten classes gets 0.23 at most.

    Of the result of a softmax with gradients, in whatever shape, over an axis of as many numbers;
    in three calls of one line.

    Excepted: what was scaled, shifted or added to in between, as by a temperature; calls without
    gradients; an axis of two numbers or less.

    Cost: a walk over a few nodes for each softmax.
    """

    NAME = "softmax-twice"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls = {}

    def after_softmax(self, tensor, result, dim, frame):
        if not tensor.dim() or tensor.shape[dim] <= 2:
            return
        origin = find_origin(tensor.grad_fn)
        if kind(origin) != "Softmax":
            return
        shape = origin._saved_result.shape
        if shape[signed(origin._saved_dim, len(shape))] != tensor.shape[dim]:
            return
        place = frame.f_code, frame.f_lineno
        self.calls[place] = self.calls.get(place, 0) + 1
        if self.calls[place] == CALLS:
            self.report(
                "a softmax is taken of the output of a softmax: the second one makes it nearly "
                "even",
                api="torch.nn.functional.softmax",
            )
