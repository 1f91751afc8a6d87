"""A view is no transposition."""

import math

from sanitizer_invariants.tools.invariant import Invariant

CALLS = 20_000


class ViewForTranspose(Invariant):
    """No `view` or `reshape` to two axes moves an axis to another place.

    Why: a view keeps the order of the elements, and can only join neighbouring axes, or split one.
    What has the size of an axis, but not as many elements before it (or behind it), is another
    axis of the same length: rows of (2, B, H) as (B, 2H) are two samples each, and rows of
    (B, C, L) as (B * L, C) are pieces of one channel. `permute` or `transpose` is missing.

    Said where rows straddle: the length of a row is neither a multiple nor a divisor of what is
    behind one of the axes, so that no joining and splitting makes it. Where it could be by chance
    ((2, B, H) as (2 * B / 2, 2H), with two samples), it is said of rows whose number has followed
    the size of the axis at one line, from one size to another, perhaps in an evaluation.

    Excepted: lines at which no tensor has gradients; results of more axes than two (the shift of
    relative positions of Transformer-XL straddles on purpose); sizes that are there twice;
    functions (`torch.reshape`), `flatten` and `view_as`.

    Cost: a few comparisons of sizes for each of the first 20,000 views.
    """

    NAME = "view-for-transpose"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.numbers, self.learnt = 0, {}, set()

    def after_view(self, tensor, result):
        if result.dim() != 2 or tensor.dim() < 2 or self.calls >= CALLS:
            return
        self.calls += 1
        before = [size for size in tensor.shape if size != 1]
        rows, columns = result.shape
        if min(rows, columns) < 2 or rows == columns or rows == before[0]:
            return
        has_moved_rows = is_moved(before[1:], before, rows)
        has_moved = has_moved_rows or is_moved(before[:-1], before, columns)
        is_certain = has_moved and result.requires_grad and straddles(before, columns)
        if is_certain or (has_moved_rows and self._follows(before, result)):
            self._report(tensor, result)

    def _follows(self, before, result):
        """Whether the number of rows was that of the same axis before, when it was another one."""
        rows = len(result)
        rest = tuple(size for size in before if size != rows)
        key = self.program.here(), before.index(rows), rest
        if result.requires_grad:
            self.learnt.add(key)
        numbers = self.numbers.setdefault(key, set())
        numbers.add(rows)
        return len(numbers) > 1 and key in self.learnt

    def _report(self, tensor, result):
        self.report(
            f"a view of {tuple(tensor.shape)} as {tuple(result.shape)} keeps the order of the "
            "elements: a row holds pieces of several samples or classes, and is no transposition",
            api="torch.Tensor.view",
        )


def is_moved(places, before, size):
    """Whether a size is the one of an axis that was at one of these places, and of no other."""
    return size in places and before.count(size) == 1


def straddles(before, columns):
    """Whether no joining and splitting of axes makes rows of this length."""
    behind = [math.prod(before[place:]) for place in range(1, len(before))]
    return any(elements % columns and columns % elements for elements in behind)
