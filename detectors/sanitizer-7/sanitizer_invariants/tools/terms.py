"""The terms that a loss is the sum of."""

import torch

from sanitizer_invariants.tools.graphs import kind, list_inputs

TERMS = 64
# What leaves a sum a sum: it scales all terms alike, adds up their elements or a constant, or
# changes the shape.
SCALES = (
    "Neg", "Div", "Mul", "Add", "Sub", "Rsub", "Sum", "Mean", "View", "Squeeze", "Unsqueeze",
    "ToCopy", "Clone",
)  # fmt: skip
# A node of the graph that holds a parameter.
LEAF = "torch::autograd::AccumulateGrad"


def list_terms(root):
    """The functions that made the terms which are added up, each once, with the factor that the
    last sum above a term is multiplied by.
    """
    # Of each node its own factor, and the one of the last sum above it.
    factors = {root: (1.0, 1.0)} if root is not None else {}
    nodes, terms = list(factors), {}
    for node in nodes:
        factor, above = factors[node]
        inputs = list_inputs(node)
        is_sum = kind(node) == "Add" and len(inputs) == 2
        is_scale = kind(node) in SCALES and len(inputs) == 1
        if not (is_sum or is_scale) or len(nodes) > TERMS:
            terms[node] = above
            continue
        following = [before for before in inputs if before not in factors]
        entry = (factor, factor) if is_sum else (factor * read_factor(node), above)
        factors.update(dict.fromkeys(following, entry))
        nodes += following
    return terms if len(nodes) <= TERMS else {}


def read_factor(node):
    """The number that a function multiplies by; 1 where it is not known."""
    factor = getattr(node, "_saved_other", None) if kind(node) in ("Div", "Mul") else None
    if isinstance(factor, torch.Tensor) and factor.numel() == 1:
        factor = float(factor)
    if not isinstance(factor, (int, float)) or factor == 0:
        return 1.0
    return 1 / abs(factor) if kind(node) == "Div" else abs(factor)
