"""A mask leaves out single losses, and a mean has none."""

import torch

from sanitizer_invariants.tools.graphs import MarkingInvariant, kind, list_inputs, walk

# What multiplies a loss by other numbers, or chooses, and the names of these in the graph.
FACTORS = {
    "Mul": ("_saved_other", "_saved_self"),
    "Where": ("_saved_condition",),
    "MaskedFill": ("_saved_mask",),
}
SHAPES = ("View", "Squeeze", "Unsqueeze", "Expand", "Clone", "ToCopy")
NODES = 64


class MaskedMean(MarkingInvariant):
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

    def after_loss(self, name, arguments, output):
        target = arguments.get("target")
        reduction = arguments.get("reduction")
        is_reduced = output.grad_fn is not None and output.dim() == 0
        if is_reduced and reduction in ("mean", "sum") and isinstance(target, torch.Tensor):
            numbers = {target.numel(), len(target) if target.dim() else 1}
            self.mark(output, (self.program.here(), numbers, name))

    def look_at(self, root):
        for where, name in find_masked(root):
            self.report(
                f"{name} has reduced its losses to one number, and this is multiplied by a "
                "weight or mask for each target: none is left out",
                api=f"torch.nn.functional.{name}",
                where=where,
            )


def find_masked(root):
    """Where means were computed that a mask is applied to, with the names of their functions."""
    masked = []
    for node in walk([root], NODES, MaskedMean.find_mark):
        for before in list_inputs(node) if kind(node) in FACTORS else ():
            mark = find_mean(before)
            if mark is not None and is_masked(node, mark[1]):
                where, _, name = mark
                masked.append((where, name))
    return masked


def find_mean(node):
    """The mark of the loss that a node hands on in another shape, or None."""
    while MaskedMean.find_mark(node) is None:
        if kind(node) not in SHAPES or node.next_functions[0][0] is None:
            return None
        node = node.next_functions[0][0]
    return MaskedMean.find_mark(node)


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
