"""Each term of a loss has a way to the parameters."""

import torch

from sanitizer_invariants.base import Invariant
from sanitizer_invariants.graphs import kind, origin, roots

# What adds up and weights the terms of a loss.
ADDITIVE = ("Add", "Sub", "Rsub", "Mul", "Div", "Mean", "Sum", "View", "Squeeze", "Select", "ToCopy", "Stack")
SHIFTS = ("Max", "Amax", "Min", "Amin", "Logsumexp")
TAKEN, LEARNT, SUM = (f"{name} by the sanitizer" for name in ("taken", "learnt", "sum"))
STEPS, NODES, PARTS = 5, 64, 8
ALIKE, DIFFERENT = 1e-3, 0.02


class ConstantTerm(Invariant):
    """No number that was computed with gradients, and taken out of the graph, is added to a loss as a constant.

    Why: `item()`, `detach()` and `torch.tensor(…)` leave the value of a term and take its gradient away: the loss that
    is printed has the term, and training does as if it had not.

    Seen in five backward passes in a row: what is added is always the same multiple of what was taken out at one line,
    while both change. Excepted: numbers that are in this or another loss with their gradients (what is learnt already,
    or goes on in a running sum), and those of which a part is (a straight-through estimate); products; the largest or
    smallest of some numbers and their logsumexp, which a stable logsumexp subtracts and adds again.

    Cost: a look-up for each number that is taken out, and a walk over the sums that a loss is made of.
    """

    NAME = "constant-term"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.taken, self.history = {}, {}

    def after_number(self, tensors, value):
        nodes = [each.grad_fn for each in tensors if isinstance(each, torch.Tensor) and each.grad_fn is not None]
        if not nodes or any(LEARNT in node.metadata or is_shift(node) for node in nodes):
            return
        taken = Taken(value)
        for node in nodes:
            for part in additive(node, PARTS):
                part.metadata.setdefault(TAKEN, []).append(taken)
        self.taken.setdefault(self.program.here(), []).append(taken)

    def after_sum(self, constant, result):
        if result.grad_fn is not None and (isinstance(constant, torch.Tensor) or constant != 0):
            result.grad_fn.metadata[SUM] = self.program.here(), constant

    def before_backward(self, tensors):
        sums = []
        for loss in roots(tensors):
            for node in additive(loss, NODES):
                node.metadata[LEARNT] = True
                sums += [node.metadata[SUM]] if SUM in node.metadata else []
                for taken in node.metadata.get(TAKEN, ()):
                    taken.is_learnt = True
        if sums and self.taken:
            for where, constant in sums:
                self._compare(where, number(constant))
            self.taken.clear()

    def after_step(self, optimizer):
        self.taken.clear()

    def _compare(self, where, constant):
        for place, taken in self.taken.items():
            if any(each.is_learnt for each in taken):
                self.history.pop((where, place), None)
                continue
            values = [number(each.value) for each in taken]
            seen = self.history.setdefault((where, place), [])
            seen.append((constant, values[-1], sum(values), self.program.iteration))
            del seen[:-STEPS]
            if len(seen) == STEPS and any(is_multiple([(c, v[which]) for c, *v in seen]) for which in (0, 1)):
                self.report(
                    "a term of the loss is a number that was taken out of the graph: it has no gradient, so that "
                    "nothing learns from it",
                    api="torch.Tensor.detach",
                    iteration=seen[0][-1],
                    where=place,
                )


class Taken:
    """A number that was taken out of the graph."""

    def __init__(self, value):
        self.value, self.is_learnt = value, False


def additive(node, limit):
    """The nodes that add up to a number, and those that they begin with."""
    found, seen = [node] if node is not None else [], set()
    for each in found:
        if kind(each) in ADDITIVE and len(found) < limit:
            following = [one for one, _ in each.next_functions if one is not None and one not in seen]
            seen.update(following)
            found += following
    return found


def is_shift(node):
    """Whether a number is the largest of some, or the like, in whatever shape."""
    return kind(origin(node)) in SHIFTS


def number(value):
    """One number that stands for what was taken out, or added: the mean of several."""
    if isinstance(value, torch.Tensor):
        return value.detach().double().mean().item()
    if isinstance(value, (list, tuple)):
        return sum(map(number, value)) / max(1, len(value))
    return float(value)


def is_multiple(pairs):
    """Whether constants are the same multiple of values that change."""
    values = [abs(value) for _, value in pairs]
    if min(values) == 0 or max(values) - min(values) <= DIFFERENT * max(values):
        return False
    ratios = [constant / value for constant, value in pairs]
    return ratios[0] != 0 and all(abs(each / ratios[0] - 1) < ALIKE for each in ratios)
