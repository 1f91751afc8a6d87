"""What the graph of a loss says: where it begins, and what has made some numbers."""

import torch

from sanitizer_invariants.probabilities_as_logits import SHAPES


def roots(tensors):
    """The nodes that a backward pass begins from: those of tensors, or (from torch 2.7 on) of edges of the graph."""
    given = [tensors] if isinstance(tensors, torch.Tensor) or hasattr(tensors, "output_nr") else tensors
    return [each.grad_fn if isinstance(each, torch.Tensor) else each.node for each in given]


def origin(node):
    """The function that has made the numbers which this one has, in whatever shape; or None."""
    while node is not None and kind(node) in SHAPES:
        node = node.next_functions[0][0] if node.next_functions else None
    return node


def kind(node):
    """What a function does: `Mul` of MulBackward0; None of no function."""
    return None if node is None else node.name().partition("Backward")[0]
