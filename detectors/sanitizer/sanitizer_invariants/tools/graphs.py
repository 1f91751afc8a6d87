"""What the graph of a loss says: where it begins, and what has made some numbers."""

import torch

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
