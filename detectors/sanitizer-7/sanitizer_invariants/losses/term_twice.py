"""Each term of a loss is added once."""

import torch

from sanitizer_invariants.tools.graphs import find_roots, kind, list_inputs
from sanitizer_invariants.tools.hooks import may_read_saved
from sanitizer_invariants.tools.invariant import Invariant, checksum_of
from sanitizer_invariants.tools.terms import LEAF, list_terms

PASSES, NODES, ROUNDING = 3, 64, 1e-3


class TermTwice(Invariant):
    """No term is computed twice from the same parameters and data, and added to the loss each time.

    Why: it counts twice as much as whoever wrote it thinks. A prior, or a penalty, that is listed
    under two names, is met twice by a loop over all of them.

    Two terms of the sum that a backward pass begins from are made by the same functions of the same
    parameters, and all that these functions keep is the same to the last bit; in the first three
    passes of the program.

    Excepted: sums that are divided by the number of the copies, as the mean of two tasks with one
    penalty is; a term that is computed once, and added twice (`x + x`); terms of more than 64
    functions, and those that keep no numbers, or are made by functions of the program's own; sums
    with two terms that are made alike of other numbers, as those of several samples or draws.

    Cost: a walk over the terms of the loss for the first three backward passes.
    """

    NAME, LIGHT = "term-twice", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.passes, self.hits = 0, 0

    def before_backward(self, tensors):
        if self.passes == PASSES or not may_read_saved():
            return
        self.passes += 1
        repeated = None
        for root in find_roots(tensors):
            repeated = repeated or find_repeated(root)
        self.hits += repeated is not None
        if self.hits == PASSES:
            names = " of ".join(kind(node).rpartition(":")[2] for node in repeated.nodes[:3])
            self.report(
                f"the loss adds a term twice ({names}): both are computed by the same functions "
                "from the same parameters, and have the same numbers",
                api="torch.Tensor.add",
            )


class Term:
    """What a term of a loss was made of: its functions, its parameters, and what these keep."""

    def __init__(self, node):
        self.nodes, self.leaves, self.shape = [node], [], []
        visited = {node: 0}
        for current in self.nodes:
            places = []
            for before in list_inputs(current):
                if before not in visited and len(visited) <= NODES:
                    visited[before] = len(visited)
                    self.nodes.append(before)
                places.append(visited.get(before))
            self.shape.append((kind(current), *places))
            if kind(current) == LEAF:
                self.leaves.append(id(current.variable))
        self.is_whole = len(visited) <= NODES

    def is_made_as(self, other):
        """Whether two terms are made by the same functions of the same parameters."""
        return bool(self.leaves) and self.shape == other.shape and self.leaves == other.leaves

    def is_same(self, other):
        """Whether two terms that are made alike have the same numbers."""
        return self.list_kept() == other.list_kept()

    def list_kept(self):
        return [list_saved(node) for node in self.nodes]

    def can_be_compared(self):
        """Whether all that a term follows from can be looked at, and is not only a sum."""
        is_known = self.is_whole and not any(map(is_own, self.nodes))
        return is_known and any(has_numbers(node) for node in self.nodes)


def find_repeated(root):
    """One of several terms of a sum that are the same; None where there are none, where others are
    made alike of other numbers, or where the sum is a mean over them.
    """
    weights = list_terms(root)
    terms, repeated, copies = [Term(node) for node in weights], None, 1
    for number, term in enumerate(terms):
        alike = [other for other in terms[:number] if term.is_made_as(other)]
        for other in alike:
            if not term.can_be_compared() or not term.is_same(other):
                return None
        if alike:
            repeated, copies = term, max(copies, len(alike) + 1)
    is_mean = repeated is not None and abs(weights[repeated.nodes[0]] * copies - 1) < ROUNDING
    return None if is_mean else repeated


def is_own(node):
    """Whether a function keeps what cannot be looked at, as one of the program's own does."""
    return isinstance(node, torch.autograd.function.BackwardCFunction)


def has_numbers(node):
    return any(isinstance(value, torch.Tensor) for _, value in read_saved(node))


def list_saved(node):
    """What a function keeps, by names; a checksum for a tensor."""
    return [(name, describe(value)) for name, value in read_saved(node)]


def read_saved(node):
    names = [name for name in dir(node) if name.startswith("_saved_")]
    try:
        return [(name, getattr(node, name)) for name in names]
    except RuntimeError:
        # What was written over cannot be looked at: it is like nothing else.
        return [("lost", object())]


def describe(value):
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), str(value.dtype), checksum_of(value)
    if isinstance(value, (tuple, list)):
        return [describe(item) for item in value]
    return repr(value)
