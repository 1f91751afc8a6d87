"""Each term of a loss has a way to the parameters."""

import torch

from sanitizer_invariants.tools.graphs import find_origin, find_roots, kind
from sanitizer_invariants.tools.invariant import Invariant

# What adds up and weights the terms of a loss.
ADDITIVE = (
    "Add",
    "Sub",
    "Rsub",
    "Mul",
    "Div",
    "Mean",
    "Sum",
    "View",
    "Squeeze",
    "Select",
    "ToCopy",
    "Stack",
)
SHIFTS = ("Max", "Amax", "Min", "Amin", "Logsumexp")
TAKEN, LEARNT, SUM = (f"{name} by the sanitizer" for name in ("taken", "learnt", "sum"))
STEPS, NODES, PARTS = 5, 64, 8
ALIKE, DIFFERENT = 1e-3, 0.02
# Sums of numbers of several lines: so many lines, and so many passes.
LINES, SUMS, RESIDUAL, WEIGHT = 4, 12, 1e-5, 1e-3


class ConstantTerm(Invariant):
    """No number that was computed with gradients, and taken out of the graph,
    is added to a loss as a constant.

    Why: `item()`, `detach()` and `torch.tensor(…)` leave the value of a term and take its gradient
    away: the loss that is printed has the term, and training does as if it had not.

    Seen in five backward passes in a row: what is added is always the same multiple of what was
    taken out at one line, while both change; or, in twelve passes in a row, a sum of what was taken
    out at two to four lines, with the same weights.

    Excepted: numbers that are in this or another loss with their gradients (what is learnt already,
    or goes on in a running sum), and those of which a part is (a straight-through estimate);
    products; the largest or smallest of some numbers and their logsumexp, which a stable logsumexp
    subtracts and adds again.

    Cost: a look-up for each number that is taken out, and a walk over the sums that a loss is made
    of.
    """

    NAME = "constant-term"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.numbers, self.history, self.sums = {}, {}, {}

    def after_number(self, tensors, value):
        nodes = [
            tensor.grad_fn
            for tensor in tensors
            if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None
        ]
        if not nodes or any(LEARNT in node.metadata or is_shift(node) for node in nodes):
            return
        constant = TakenNumber(value)
        for node in nodes:
            for part in additive(node, PARTS):
                part.metadata.setdefault(TAKEN, []).append(constant)
        self.numbers.setdefault(self.program.here(), []).append(constant)

    def after_sum(self, constant, result):
        if result.grad_fn is not None and (isinstance(constant, torch.Tensor) or constant != 0):
            result.grad_fn.metadata[SUM] = self.program.here(), constant

    def before_backward(self, tensors):
        sums = []
        for loss in find_roots(tensors):
            for node in additive(loss, NODES):
                node.metadata[LEARNT] = True
                sums += [node.metadata[SUM]] if SUM in node.metadata else []
                for record in node.metadata.get(TAKEN, ()):
                    record.is_learnt = True
        if sums and self.numbers:
            for where, constant in sums:
                self._compare(where, number(constant))
            self.numbers.clear()

    def after_step(self, optimizer):
        self.numbers.clear()

    def _compare(self, where, constant):
        self._compare_sums(where, constant)
        for place, constants in self.numbers.items():
            if any(record.is_learnt for record in constants):
                self.history.pop((where, place), None)
                continue
            values = [number(record.value) for record in constants]
            history = self.history.setdefault((where, place), [])
            history.append((constant, values[-1], sum(values), self.program.iteration))
            del history[:-STEPS]
            if len(history) < STEPS:
                continue
            last_values = [(constant, last) for constant, last, _, _ in history]
            sums = [(constant, total) for constant, _, total, _ in history]
            if is_multiple(last_values) or is_multiple(sums):
                self.report(
                    "a term of the loss is a number that was taken out of the graph: it has no "
                    "gradient, so that nothing learns from it",
                    api="torch.Tensor.detach",
                    iteration=history[0][-1],
                    where=place,
                )

    def _compare_sums(self, where, constant):
        """Compare what is added with weighted sums of what was taken out at several lines."""
        lines = {
            place: number(records[-1].value)
            for place, records in self.numbers.items()
            if not any(map(is_learnt, records))
        }
        if not 2 <= len(lines) <= LINES:
            self.sums.pop(where, None)
            return
        history = self.sums.setdefault(where, [])
        if history and set(history[-1][1]) != set(lines):
            history.clear()
        history.append((constant, lines, self.program.iteration))
        del history[:-SUMS]
        if len(history) == SUMS and is_weighted_sum(history):
            history.clear()
            self.report(
                f"terms of the loss are numbers that were taken out of the graph at {len(lines)} "
                "lines: they have no gradients, so that nothing learns from them",
                api="torch.Tensor.detach",
                where=min(lines),
            )


class TakenNumber:
    """A number that was taken out of the graph."""

    def __init__(self, value):
        self.value, self.is_learnt = value, False


def is_learnt(record):
    return record.is_learnt


def additive(node, limit):
    """The nodes that add up to a number, and those that they begin with."""
    nodes, visited = [node] if node is not None else [], set()
    for current in nodes:
        if kind(current) in ADDITIVE and len(nodes) < limit:
            following = [
                node
                for node, _ in current.next_functions
                if node is not None and node not in visited
            ]
            visited.update(following)
            nodes += following
    return nodes


def is_shift(node):
    """Whether a number is the largest of some, or the like, in whatever shape."""
    return kind(find_origin(node)) in SHIFTS


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
    return ratios[0] != 0 and all(abs(ratio / ratios[0] - 1) < ALIKE for ratio in ratios)


def is_weighted_sum(history):
    """Whether constants are a sum of the numbers of several lines, with weights that stay."""
    places = sorted(history[0][1])
    constants = torch.tensor([constant for constant, _, _ in history], dtype=torch.float64)
    rows = [list(map(lines.get, places)) for _, lines, _ in history]
    numbers = torch.tensor(rows, dtype=torch.float64)
    spread = numbers.std(0) / numbers.abs().mean(0).clamp(min=1e-30)
    if not bool(torch.isfinite(numbers).all() & torch.isfinite(constants).all()):
        return False
    if float(constants.std()) <= DIFFERENT * float(constants.abs().mean()):
        return False
    weights = torch.linalg.lstsq(numbers, constants[:, None], driver="gelsd").solution[:, 0]
    residual = (numbers @ weights - constants).abs().max() / constants.abs().max()
    shares = (weights * numbers.mean(0)).abs() / constants.abs().mean()
    is_meant = (shares > WEIGHT) & (spread > DIFFERENT)
    return float(residual) < RESIDUAL and int(is_meant.sum()) >= 2
