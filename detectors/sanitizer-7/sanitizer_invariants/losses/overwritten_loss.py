"""Each loss that is computed is learnt from."""

from sanitizer_invariants.tools.graphs import find_roots, walk
from sanitizer_invariants.tools.invariant import Invariant

STEPS, NODES = 10, 2000
MARK = "loss of a line, by the sanitizer"


class OverwrittenLoss(Invariant):
    """Of the losses that one line computes for a step, not only the last is learnt from.

    Why: a loop over places, heads or scales adds up its losses. Where it assigns (`loss =
    criterion(…)`), each one replaces the one before, and all but the last are thrown away.

    Of losses of `torch.nn.functional` with gradients; in ten steps in a row one line has computed
    several, a backward pass has come to the last of them and to no other, and nobody has looked at
    the number of another.

    Excepted: lines whose losses are all without use; losses that are compared, printed or kept as
    numbers (the least of several is chosen by that); steps with several backward passes.

    Cost: a mark for each loss, and a walk over at most 2000 nodes for each step with several losses
    of a line.
    """

    NAME = "overwritten-loss"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        # Numbers of losses, by line: a graph that is thrown away is not to be kept here.
        self.losses, self.names, self.number = {}, {}, 0
        self.reached, self.passes, self.is_read = set(), 0, set()
        self.counts = {}

    def after_loss(self, name, arguments, output):
        if output.grad_fn is None or output.dim():
            return
        self.number += 1
        output.grad_fn.metadata[MARK] = self.number
        where = self.program.here()
        self.names[where] = name
        self.losses.setdefault(where, []).append(self.number)

    def after_number(self, tensors, value):
        for tensor in tensors if isinstance(tensors, (list, tuple)) else [tensors]:
            if tensor.grad_fn is not None and MARK in tensor.grad_fn.metadata:
                self.is_read.add(tensor.grad_fn.metadata[MARK])

    def before_backward(self, tensors):
        self.passes += 1
        if self.passes == 1 and any(len(numbers) > 1 for numbers in self.losses.values()):
            self.reached = find_marks(find_roots(tensors))

    def before_step(self, optimizer):
        for where, numbers in self.losses.items():
            is_broken = self.passes == 1 and self._is_overwritten(numbers)
            self.counts[where] = self.counts.get(where, 0) + 1 if is_broken else 0
            if self.counts[where] == STEPS:
                self.report(
                    f"of {len(numbers)} losses that this line computes for a step the last one is "
                    "learnt from, and the others are thrown away: they are not added up",
                    api=f"torch.nn.functional.{self.names[where]}",
                    where=where,
                    iteration=self.program.iteration_of(optimizer),
                )
        self.losses, self.passes = {}, 0
        self.reached, self.is_read = set(), set()

    def _is_overwritten(self, numbers):
        """Whether the last loss alone was reached, and no other one was read."""
        *earlier, last = numbers
        if not earlier or last not in self.reached:
            return False
        return self.reached.isdisjoint(earlier) and self.is_read.isdisjoint(earlier)


def find_marks(roots):
    """The numbers of the losses behind some roots."""
    nodes = walk(roots, NODES)
    return {node.metadata[MARK] for node in nodes if MARK in node.metadata}
