"""The weights of a sum add up to one."""

import torch

from sanitizer_invariants.tools.axes import SUMMED, Axis, follow, signed
from sanitizer_invariants.tools.graphs import (
    SHAPES,
    find_origin,
    find_roots,
    kind,
    list_inputs,
    walk,
)
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.terms import LEAF

LOOKS, NODES, WAY = 3, 20_000, 8
# What scores go through between the product that makes them and the softmax.
ON_SCORES = ("Div", "Mul", "MaskedFill", "Add", "Sub", "Where", *SHAPES)


class AttentionAxis(Invariant):
    """Weights that a softmax has made are summed over the axis over which they add up to one.

    Why: an attention takes a mean of values, and its weights are a softmax over the places of
    these values. Over another axis (of the queries, of the heads, of the batch) the weights of one
    mean add up to anything, and each query takes a share from the others.

    Of a softmax with gradients whose result goes, in whatever shape, through dropout and masks,
    into a product of matrices, or is multiplied by values and summed. Its scores are a product of
    two tensors that were computed; or it is taken over an axis of a single number. In three
    backward passes, where no sum is over that axis.

    Excepted: weights that are divided or multiplied by what was computed as well, as in slots that
    compete, and are evened out again; scores of a layer or of parameters, as those of clusters;
    products of two such weights; lines that take a softmax of what has no gradient first, as the
    routing between capsules does.

    Cost: a mark for each softmax; a walk over the graph for the first five backward passes, and
    then for each 100th.
    """

    NAME, LIGHT = "attention-axis", False
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.has_marks, self.passes, self.hits = False, 0, {}
        # Lines that begin with even weights, and take them again after a look at the sums.
        self.routing = set()

    def after_softmax(self, tensor, result, dim, frame):
        if torch.is_grad_enabled() and not tensor.requires_grad:
            self.routing.add(self.program.here())
        if result.grad_fn is not None and result.dim() > 1 and kind(result.grad_fn) == "Softmax":
            result.grad_fn.metadata[self.NAME] = self.program.here()
            self.has_marks = True

    def before_backward(self, tensors):
        if not self.has_marks:
            return
        self.has_marks = False
        self.passes += 1
        if not is_sampled(self.passes, 100):
            return
        nodes = walk(find_roots(tensors), NODES)
        consumers = find_consumers(nodes)
        for node in nodes:
            where = node.metadata.get(self.NAME)
            if where is not None and where not in self.routing and kind(node) == "Softmax":
                self._look_at(node, consumers, where)

    def _look_at(self, softmax, consumers, where):
        shape = softmax._saved_result.shape
        axis = Axis(signed(softmax._saved_dim, len(shape)), shape)
        sums = list(find_sums(softmax, axis, consumers))
        is_of_one = axis.shape[axis.number] == 1
        is_sure = is_of_one or is_product(softmax)
        if not sums or any(sums) or not is_sure:
            return
        self.hits[where] = self.hits.get(where, 0) + 1
        if self.hits[where] == LOOKS:
            self.report(
                f"the weights of a softmax over axis {axis.number} of {tuple(shape)} are summed "
                "over another axis, where they do not add up to one",
                api="torch.nn.functional.softmax",
                where=where,
            )


def find_consumers(nodes):
    """What gets the result of each node, and as its how manieth input."""
    consumers = {}
    for node in nodes:
        for place, (before, _) in enumerate(node.next_functions):
            if before is not None:
                consumers.setdefault(before, []).append((node, place))
    return consumers


def find_sums(node, axis, consumers, way=WAY):
    """Of each sum that the result of a node goes into: whether it is over that axis."""
    for consumer, place in consumers.get(node, ()):
        name = kind(consumer)
        if name in SUMMED:
            is_mean = axis.number == SUMMED[name][place]
            if is_mean or is_plain_sum(consumer, place, axis):
                yield is_mean
        elif name == "Mul" and len(list_inputs(consumer)) == 2:
            yield from find_weighted(consumer, place, axis, consumers)
        elif way:
            moved = move(axis, consumer, consumers)
            if moved is not None:
                yield from find_sums(consumer, moved, consumers, way - 1)


def move(axis, node, consumers):
    """The axis in the result of a node; None where no consumer tells."""
    following = [consumer for consumer, _ in consumers.get(node, ())] or [None]
    candidates = [follow(axis, node, consumer) for consumer in following]
    return next((candidate for candidate in candidates if candidate is not None), None)


def find_weighted(product, place, axis, consumers):
    """Of each sum of values that weights were multiplied with: whether it is over that axis."""
    values = product._saved_other if place == 0 else product._saved_self
    if values is None:
        return
    shape = torch.broadcast_shapes(axis.shape, values.shape)
    number = axis.number + len(shape) - len(axis.shape)
    for consumer, _ in consumers.get(product, ()):
        axes = getattr(consumer, "_saved_dim", None) if kind(consumer) == "Sum" else None
        if axes:
            summed = [signed(place, len(shape)) for place in axes]
            yield number in summed or all(shape[place] == 1 for place in summed)


def is_product(softmax):
    """Whether the scores of a softmax are a product of two tensors that were computed."""
    scores = walk(list_inputs(softmax), 32, lambda node: kind(node) not in ON_SCORES)
    products = [node for node in scores if kind(node) in ("Bmm", "Mm")]
    return any(map(is_computed, products))


def is_computed(product):
    """Whether both sides of a product were computed, and none is such a product itself, as the
    edges between clusters are.
    """
    sides = [find_origin(side) for side in list_inputs(product)]
    if len(sides) != 2 or any(side is None or side.name() == LEAF for side in sides):
        return False
    return not any(kind(side) in ("Bmm", "Mm") and is_computed(side) for side in sides)


def is_plain_sum(product, place, axis):
    """Whether a product sums several values by weights, and is none of two sets of weights, whose
    own sums make up for it.
    """
    if axis.shape[SUMMED[kind(product)][place]] == 1:
        return False
    sides = [before for before, _ in product.next_functions]
    return kind(find_origin(sides[1 - place])) != "Softmax"
