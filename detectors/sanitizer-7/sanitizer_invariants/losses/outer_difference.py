"""A loss compares each prediction with its own target."""

import math

import torch

from sanitizer_invariants.tools.invariant import Invariant

LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
# What losses do with each difference, and with all of them; what features and kernels are made by
# is not here.
OF_LOSSES = (
    "Mean", "Sum", "Pow", "Abs", "Mul", "Div", "Neg", "Sqrt", "Add", "LinalgVectorNorm", "Norm",
    "View", "Clamp", "SmoothL1Loss", "HuberLoss", "MseLoss", "ToCopy",
)  # fmt: skip
# A loss less another one is a difference of what these have made.
REDUCTIONS = ("Mean", "Sum", "LinalgVectorNorm", "Norm", "SmoothL1Loss", "HuberLoss", "MseLoss")
# What compares all with all, and what turns a column into a row for that.
PAIRS = ("Sub", "Cdist", "EuclideanDist")
SHAPES = (
    "T", "Transpose", "Permute", "Squeeze", "Unsqueeze", "View", "ReshapeAlias", "UnsafeView",
    "Select", "Expand", "Clone",
)  # fmt: skip
# Makes (n, 1) of (n,) on purpose.
PURPOSES = ("Unsqueeze", "View", "ReshapeAlias", "Index", "UnsafeView", "Expand")
MARK, NODES = "outer difference of the sanitizer", 64


class OuterDifference(Invariant):
    """No loss is made of the differences of shapes (n, 1) and (n,): broadcast, they are n times n.

    Why: each prediction is then compared with all targets, and the best one is their mean.

    The same is true of other shapes that differ by axes of one alone, as (n, 3, 1, 1) and (n, 3),
    in `mse_loss` and its like.

    Only where one side is computed with gradients and the other without, and where all differences
    go into the loss by nothing but powers, absolute values, sums and means. Excepted: both or
    neither with gradients, as in pairwise distances; n of 1; what has got its second dimension by
    `unsqueeze`, `view` or an index; differences that go on to an exponential function or a layer,
    as those of features and of as many centres as samples do; losses that also compare what was
    computed with itself, or with more that was computed, as an energy distance does. Differences by
    `torch.sub` are not seen: only by `-`, and those that `mse_loss` and its like make.

    Cost: a comparison of sizes for each difference, and where they are suspicious a walk over at
    most 64 nodes.
    """

    NAME = "outer-difference"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.marked = False

    def after_difference(self, first, second, result):
        if is_outer(first, second) and result.grad_fn is not None:
            # Lives as long as the node does, which is not kept alive.
            result.grad_fn.metadata[MARK] = self.program.here(), len(result)
            self.marked = True

    def before_backward(self, tensors):
        if not self.marked:
            return
        self.marked = False
        for loss in [tensors] if isinstance(tensors, torch.Tensor) else tensors:
            for node in find_marked(loss.grad_fn):
                if not is_paired(node, loss.grad_fn):
                    where, size = node.metadata[MARK]
                    self._report(size, "torch.Tensor.sub", where)

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or arguments.get("reduction") == "none" or not output.requires_grad:
            return
        predictions, targets = arguments["input"], arguments["target"]
        if is_outer(predictions, targets):
            self._report(len(predictions), f"torch.nn.functional.{name}", None)
        elif is_spread(predictions, targets):
            self.report(
                f"a loss gets shapes {tuple(predictions.shape)} and {tuple(targets.shape)}, which "
                "differ by axes of one alone, and compares each sample with all of them",
                api=f"torch.nn.functional.{name}",
            )

    def _report(self, size, api, where):
        self.report(
            f"a loss is made of the differences of shapes ({size}, 1) and ({size},): each "
            f"prediction is compared with all {size} targets",
            api=api,
            where=where,
        )


def is_outer(first, second):
    if first.dim() + second.dim() != 3 or first.dim() == 0 or second.dim() == 0:
        return False
    column, row = (first, second) if first.dim() == 2 else (second, first)
    if (
        tuple(column.shape) != (len(row), 1)
        or len(row) < 2
        or first.requires_grad == second.requires_grad
    ):
        return False
    computed = first if first.requires_grad else second
    return computed.grad_fn is not None and not is_unsqueezed(column)


def without_ones(shape):
    return [size for size in shape if size != 1]


def is_spread(predictions, targets):
    """Whether two tensors have the same shape but for axes of one, and both are repeated to be
    compared.
    """
    shapes = tuple(predictions.shape), tuple(targets.shape)
    first, second = map(without_ones, shapes)
    if first != second or not first or predictions.requires_grad == targets.requires_grad:
        return False
    if kind_of(predictions.grad_fn) in PURPOSES or kind_of(targets.grad_fn) in PURPOSES:
        return False
    if any(
        side._base is not None and side._base.dim() < side.dim() for side in (predictions, targets)
    ):
        return False
    repeated = torch.broadcast_shapes(*shapes)
    return math.prod(repeated) > math.prod(first)


def is_unsqueezed(column):
    """Whether the second dimension was added on purpose, just before."""
    return kind_of(column.grad_fn) in PURPOSES or (
        column._base is not None and column._base.dim() == 1
    )


def kind_of(node):
    return node.name().partition("Backward")[0] if node is not None else ""


def find_marked(loss):
    """The nodes of the marked differences of which a loss is made."""
    following, differences = [(loss, True)], []
    for node, reduced in following:
        kind = kind_of(node)
        if kind == "Sub" and MARK in node.metadata:
            differences.append(node)
        elif (kind in OF_LOSSES or (kind in ("Sub", "Rsub") and reduced)) and len(
            following
        ) < NODES:
            following += [
                (following_node, reduced and kind not in REDUCTIONS)
                for following_node, _ in node.next_functions
            ]
    return differences


def is_paired(difference, loss):
    """Whether a loss also has differences of what was computed from one another."""
    column = source(list_inputs(difference)[0])
    following = [loss]
    for node in following:
        if (
            node is not difference
            and kind_of(node) in PAIRS
            and is_between(column, list_inputs(node))
        ):
            return True
        if len(following) < NODES:
            following += [tensor for tensor in list_inputs(node) if tensor not in following]
    return False


def is_between(column, sides):
    """Whether both sides were computed, and one of them is this."""
    return len(sides) == 2 and column in map(source, sides)


def list_inputs(node):
    """The nodes that have made what a node was given, as far as it has gradients."""
    return [
        following_node for following_node, _ in node.next_functions if following_node is not None
    ]


def source(node):
    """The node that has made the numbers which a node is given in another shape."""
    while kind_of(node) in SHAPES and list_inputs(node):
        node = list_inputs(node)[0]
    return node
