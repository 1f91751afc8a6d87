"""What the graph of a loss says: where it begins, and what has made some numbers."""

import torch

from sanitizer_invariants.tools.invariant import Invariant

# What changes the shape of a tensor, its order or its type, and no number.
SHAPES = (
    "View", "ReshapeAlias", "UnsafeView", "Transpose", "T", "Permute", "Squeeze", "Unsqueeze",
    "Slice", "Select", "Index", "IndexSelect", "Clone", "ToCopy", "Alias", "Expand",
)  # fmt: skip


def find_roots(tensors):
    """The nodes that a backward pass begins from: those of tensors,
    or (from torch 2.7 on) of edges of the graph.
    """
    starts = (
        [tensors] if isinstance(tensors, torch.Tensor) or hasattr(tensors, "output_nr") else tensors
    )
    return [start.grad_fn if isinstance(start, torch.Tensor) else start.node for start in starts]


def find_origin(node):
    """The function that has made the numbers which this one has, in whatever shape; or None."""
    while node is not None and kind(node) in SHAPES:
        node = node.next_functions[0][0] if node.next_functions else None
    return node


def kind(node):
    """What a function does: `Mul` of MulBackward0; None of no function."""
    return None if node is None else node.name().partition("Backward")[0]


def list_inputs(node):
    """The nodes that a node has its numbers from."""
    return [before for before, _ in node.next_functions if before is not None]


def walk(roots, limit, is_end=None):
    """Some nodes behind roots, the nearest ones first; none behind those that are ends."""
    nodes = [root for root in roots if root is not None]
    visited = set(nodes)
    for node in nodes:
        inputs = [] if is_end is not None and is_end(node) else list_inputs(node)
        for before in inputs:
            if before not in visited and len(nodes) < limit:
                visited.add(before)
                nodes.append(before)
    return nodes


class MarkingInvariant(Invariant):
    """A statement about what becomes of some tensors: they are marked, and looked for at the next
    backward pass. `look_at(root)` gets a node that the pass begins from.
    """

    def __init__(self, program, report):
        super().__init__(program, report)
        self.has_marks = False

    def mark(self, tensor, value):
        """Keep a value with the function that has made a tensor."""
        tensor.grad_fn.metadata[self.NAME] = value
        self.has_marks = True

    def before_backward(self, tensors):
        if not self.has_marks:
            return
        self.has_marks = False
        for root in find_roots(tensors):
            if root is not None:
                self.look_at(root)

    @classmethod
    def find_mark(cls, node):
        """The value that is kept with a node, or None."""
        return node.metadata.get(cls.NAME)
