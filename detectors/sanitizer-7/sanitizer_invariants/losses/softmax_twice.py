"""What adds up to one is no score."""

from sanitizer_invariants.tools.axes import signed
from sanitizer_invariants.tools.graphs import find_origin, kind
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.probabilities import are_probabilities

CALLS, ROWS = 3, 16


class SoftmaxTwice(Invariant):
    """No softmax is taken of what a softmax has made.

    Why: its numbers are between 0 and 1, so that the second softmax makes them nearly even: the
    largest of ten classes gets 0.23 at most.

    Of the result of a softmax with gradients, in whatever shape, over an axis of as many numbers,
    in three calls of one line; without gradients of numbers that add up to one in all rows, in
    three calls, or one of 16 rows.

    Excepted: what was scaled, shifted or added to in between, as by a temperature; rows of zeros
    and a single one; an axis of two numbers or less.

    Cost: a walk over a few nodes for each softmax; without gradients a look at the numbers.
    """

    NAME = "softmax-twice"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls = {}

    def after_softmax(self, tensor, result, dim, frame):
        if not tensor.dim() or tensor.shape[dim] <= 2:
            return
        if tensor.grad_fn is None:
            if not tensor.requires_grad:
                self._look_at_numbers(tensor, dim, frame)
            return
        origin = find_origin(tensor.grad_fn)
        if kind(origin) != "Softmax":
            return
        shape = origin._saved_result.shape
        if shape[signed(origin._saved_dim, len(shape))] != tensor.shape[dim]:
            return
        self._count(frame, 1)

    def _look_at_numbers(self, tensor, dim, frame):
        """Of numbers that nothing tells the origin of: whether all rows add up to one."""
        rows = tensor.movedim(dim, -1).reshape(-1, tensor.shape[dim])
        if tensor.is_meta or not are_probabilities(rows) or is_sure(rows):
            return
        self._count(frame, CALLS if len(rows) >= ROWS else 1)

    def _count(self, frame, number):
        place = frame.f_code, frame.f_lineno
        before = self.calls.get(place, 0)
        self.calls[place] = before + number
        if before < CALLS <= self.calls[place]:
            self.report(
                "a softmax is taken of the output of a softmax: the second one makes it nearly "
                "even",
                api="torch.nn.functional.softmax",
            )


def is_sure(rows):
    """Whether all rows are zeros and a single one."""
    return bool(((rows == 0) | (rows == 1)).all())
