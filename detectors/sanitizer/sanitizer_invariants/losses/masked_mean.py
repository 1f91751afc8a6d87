"""A mask leaves out single losses, and a mean has none."""

import torch

from sanitizer_invariants.tools.graphs import find_roots, kind
from sanitizer_invariants.tools.invariant import Invariant

# What multiplies a loss by other numbers, or chooses, and the names of these in the graph.
FACTORS = {
    "Mul": ("_saved_other", "_saved_self"),
    "Where": ("_saved_condition",),
    "MaskedFill": ("_saved_mask",),
}
SHAPES = ("View", "Squeeze", "Unsqueeze", "Expand", "Clone", "ToCopy")
MARK, NODES = "targets of a mean, by the sanitizer", 64


class MaskedMean(Invariant):
    """A loss that is a mean or a sum already is not multiplied by a weight for each target.

    Why: the losses of the single targets are added up by then, and those that the mask leaves out
    are in the mean. What is multiplied is one number, so that the mask changes the size of the
    gradient, and no more. (`reduction="none"` gives single losses.)

    Seen where a loss of `torch.nn.functional`, reduced to one number, is multiplied by a tensor
    without gradients, chosen by a condition or filled by a mask, that has as many elements as there
    are targets, or rows of targets, and not all alike.

    Excepted: fewer elements than four; tensors of another size (weights of tasks); weights that are
    learnt; means by the program's own `mean()`, which nothing tells from other numbers; what no
    backward pass begins from.

    Cost: a mark for each loss, and a walk over at most 64 nodes for each backward pass; a look at
    the weights where their number is suspicious.
    """

    NAME = "masked-mean"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.marked = False

    def after_loss(self, name, arguments, output):
        target = arguments.get("target")
        reduction = arguments.get("reduction")
        is_reduced = output.grad_fn is not None and output.dim() == 0
        if is_reduced and reduction in ("mean", "sum") and isinstance(target, torch.Tensor):
            numbers = {target.numel(), len(target) if target.dim() else 1}
            output.grad_fn.metadata[MARK] = self.program.here(), numbers, name
            self.marked = True

    def before_backward(self, tensors):
        if not self.marked:
            return
        self.marked = False
        for loss in find_roots(tensors):
            for where, name in find_masked(loss):
                self.report(
                    f"{name} has reduced its losses to one number, and this is multiplied by a "
                    "weight or mask for each target: none is left out",
                    api=f"torch.nn.functional.{name}",
                    where=where,
                )


def find_masked(loss):
    """Where means were computed that a mask is applied to, with the names of their functions."""
    following, masked = [loss] if loss is not None else [], []
    for node in following:
        inputs = [before for before, _ in node.next_functions if before is not None]
        for before in inputs if kind(node) in FACTORS else ():
            mean = find_mean(before)
            if mean is not None and is_masked(node, mean.metadata[MARK][1]):
                where, _, name = mean.metadata[MARK]
                masked.append((where, name))
        if MARK not in node.metadata and len(following) < NODES:
            following += [before for before in inputs if before not in following]
    return masked


def find_mean(node):
    """The marked loss that a node hands on in another shape, or None."""
    while MARK not in node.metadata:
        if kind(node) not in SHAPES or node.next_functions[0][0] is None:
            return None
        node = node.next_functions[0][0]
    return node


def is_masked(node, numbers):
    """Whether a node multiplies by, or chooses by, one element for each target."""
    saved = [getattr(node, name, None) for name in FACTORS[kind(node)]]
    masks = [mask for mask in saved if isinstance(mask, torch.Tensor) and not mask.requires_grad]
    return any(
        mask.numel() in numbers
        and mask.numel() > 3
        and not mask.is_meta
        and bool((mask != mask.flatten()[0]).any())
        for mask in masks
    )
