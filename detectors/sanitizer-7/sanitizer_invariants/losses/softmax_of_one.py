"""A softmax has something to choose from."""

from sanitizer_invariants.tools.invariant import Invariant

CALLS = 20


class SoftmaxOfOne(Invariant):
    """A softmax is taken over more than one number.

    Why: of one number it is 1, whatever the number is. Scores of the places of a text, in the shape
    (texts, places, 1), are weighted by ones where the last axis is taken, and what made the scores
    learns nothing.

    It is advice: a context of one token, or a mixture of one part, is meant. Where the weights are
    summed over another axis `attention-axis` says it.

    Of a softmax whose input has gradients, in 20 calls of one line, all over an axis of one number,
    where another axis behind the first one has several, or it is the only one behind the first.

    Excepted: lines that meet more than one number in one of these calls, as at the first word of a
    text that grows.

    Cost: a look at the shape for each softmax.
    """

    NAME, SEVERITY = "softmax-of-one", "info"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        # By line: how many calls were over one number; None after a call over several.
        self.calls = {}

    def after_softmax(self, tensor, result, dim, frame):
        if not tensor.dim() or not tensor.requires_grad:
            return
        place = frame.f_code, frame.f_lineno
        count = self.calls.setdefault(place, 0)
        if count is None or count >= CALLS:
            return
        if tensor.shape[dim] != 1:
            self.calls[place] = None
            return
        self.calls[place] += 1
        if self.calls[place] == CALLS and self._has_choice(tensor, dim):
            self.report(
                f"a softmax is taken over axis {dim} of {tuple(tensor.shape)}, which has one "
                "number: the result is 1, whatever the number is",
                api="torch.nn.functional.softmax",
            )

    def _has_choice(self, tensor, dim):
        """Whether another axis would have been one to choose from, or there is none."""
        sizes = tensor.shape[1:]
        return tensor.dim() == 2 or any(size > 1 for size in sizes)
