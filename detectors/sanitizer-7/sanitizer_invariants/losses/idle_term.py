"""Each term of a loss teaches something."""

from sanitizer_invariants.tools.graphs import find_roots, kind, walk
from sanitizer_invariants.tools.invariant import Invariant, list_parameters
from sanitizer_invariants.tools.terms import LEAF, list_terms

PASSES, MOST, NODES = 20, 100, 20_000


class IdleTerm(Invariant):
    """Of the terms of a loss each one has gradients for something that the next step moves.

    Why: a term is added so that something learns by it. Where it was computed from a tensor that
    had been detached for another loss, its gradients reach the other network alone, and are cleared
    before that one's step. It is advice: a loss that is written once for both players of a game has
    such a term, and does no harm.

    Of a loss that is a sum, in the first 20 backward passes of a line: in none of them a step
    used what one of its terms gave to any parameter, though it used what another one gave.

    Excepted: terms for what no step has moved so far; terms that reach what is no parameter of a
    module (their gradients may be read by hand); losses of one term; passes behind which no step
    follows.

    Cost: a walk over the graph of a loss with several terms, for the first 20 passes of each line.
    """

    NAME, SEVERITY, LIGHT = "idle-term", "info", False
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        # By the line of the backward pass: how many were looked at, and what waits for its step.
        self.passes, self.pending = {}, {}
        # By line and kinds of terms: how many passes there were, and how often each term was used.
        self.used = {}
        self.own, self.moved = set(), set()

    def before_backward(self, tensors):
        place = self.program.here()
        self._settle(place)
        if self.passes.get(place, 0) == MOST:
            return
        self.pending[place] = [
            Gradients(kind(node), find_leaves(node))
            for root in find_roots(tensors)
            for node in list_terms(root)
        ]

    def before_zero_grad(self, optimizer):
        cleared = set(map(id, list_parameters(optimizer)))
        for terms in self.pending.values():
            for term in terms:
                term.waiting -= cleared

    def before_step(self, optimizer):
        parameters = list_parameters(optimizer)
        stepped = {id(parameter) for parameter in parameters if parameter.grad is not None}
        self.moved |= stepped
        for terms in self.pending.values():
            for term in terms:
                term.is_used = term.is_used or bool(term.waiting & stepped)
                term.waiting -= stepped

    def end(self):
        for place in list(self.pending):
            self._settle(place)

    def _settle(self, place):
        """Count what became of the gradients of the last pass of this line."""
        terms = self.pending.pop(place, [])
        if len(terms) < 2 or not any(term.is_used for term in terms):
            return
        self.passes[place] = self.passes.get(place, 0) + 1
        kinds = tuple(term.kind for term in terms)
        count, used = self.used.get((place, kinds), (0, (0,) * len(terms)))
        is_used = [term.is_used or not self._is_of_modules(term) for term in terms]
        used = tuple(before + now for before, now in zip(used, is_used))  # noqa: B905
        self.used[place, kinds] = count + 1, used
        if count + 1 == PASSES and 0 in used:
            idle = terms[used.index(0)]
            if not idle.leaves & self.moved:
                # What never moves at all is another fault.
                return
            self.report(
                f"a term of the loss ({idle.kind}) moves nothing: its gradients reach "
                f"{len(idle.leaves)} parameters, and no step uses them before they are cleared (is "
                "one of its inputs detached?)",
                api="torch.Tensor.backward",
                where=place,
            )

    def _is_of_modules(self, term):
        """Whether a term has gradients, and for parameters of modules alone."""
        if not term.leaves <= self.own:
            modules = self.program.modules()
            own = [parameter for module in modules for parameter in module.parameters()]
            self.own = set(map(id, own))
        return bool(term.leaves) and term.leaves <= self.own


class Gradients:
    """The parameters that a term of a loss has gradients for, by identity."""

    def __init__(self, name, leaves):
        self.kind, self.leaves = name, leaves
        self.waiting, self.is_used = set(leaves), False


def find_leaves(node):
    """The identities of the parameters that a term is computed from; none of too large a term."""
    nodes = walk([node], NODES)
    leaves = {id(leaf.variable) for leaf in nodes if leaf.name() == LEAF}
    return leaves if len(nodes) < NODES else set()
