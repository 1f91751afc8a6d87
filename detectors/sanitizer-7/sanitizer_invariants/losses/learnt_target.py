"""What a value is to become is a number."""

import torch

from sanitizer_invariants.tools.graphs import SHAPES, MarkingInvariant, kind, list_inputs, walk
from sanitizer_invariants.tools.invariant import is_sampled

LOSSES = ("MseLoss", "SmoothL1Loss", "HuberLoss")
PLACE = "place of a loss, by the sanitizer"
# What chooses some of the numbers, or leaves some out.
CHOICES = ("Max", "Amax", "Gather", "Where", "MaskedFill", "Minimum", "Maximum", *SHAPES)
# What leaves one number of several.
SINGLE = {"Max", "Amax", "Gather", "Select", "Index"}
NODES, WAY = 128, 32


class LearntTarget(MarkingInvariant):
    """The target r + gamma * v(s') of a value v(s) has no gradient where both values come from the
    same network.

    Why: the gradient of a temporal difference leads v(s) to what follows. With the gradient of the
    target the loss also leads v(s') to what came before, which is no method of learning values:
    the network finds the least difference, and not the returns. `detach()` or `no_grad()` is
    missing.

    Seen in `mse_loss`, `smooth_l1_loss`, `huber_loss` or the square of a difference: one side is
    the output of a module; the other one is a tensor without gradients, plus the output of the
    same module in another call (or another slice of the same output), times numbers from 0 to 1 of
    which one is 0.5 at least. All in whatever shape, or as a maximum or chosen elements. The value
    is a number for each sample: an output of one column, or what is chosen of several.

    Excepted: targets of other forms, as those of a twin network, a cycle, or an equation whose
    other terms have gradients as well; other modules; outputs in one call that are the same.

    Cost: a mark for each call of a module, and a walk over at most 128 nodes for the first five
    backward passes, and then for each 100th.
    """

    NAME = "learnt-target"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.passes = 0, 0

    def after_forward(self, module, arguments, options, output):
        self.calls += 1
        outputs = output if isinstance(output, (tuple, list)) else [output]
        for number, tensor in enumerate(outputs):
            if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None:
                columns = tensor.shape[-1] if tensor.dim() > 1 else 1
                self.mark(tensor, (id(module), number, self.calls, columns))

    def after_loss(self, name, arguments, output):
        if output.grad_fn is not None and kind(output.grad_fn) in LOSSES:
            output.grad_fn.metadata[PLACE] = self.program.here()

    def look_at(self, root):
        self.passes += 1
        if not is_sampled(self.passes, 100):
            return
        for node in walk([root], NODES):
            first, second = list_sides(node)
            if is_learnt(first, second) or is_learnt(second, first):
                self.report(
                    "the target of a value is made of another value of the same network, and has "
                    "gradients: the loss moves that one as well (is a detach() missing?)",
                    api="torch.Tensor.detach",
                    where=node.metadata.get(PLACE),
                )


def list_sides(node):
    """The two nodes whose difference a loss or a square is of; None of another node."""
    inputs = list_inputs(node)
    is_square = kind(node) == "Mul" and len(inputs) == 2 and inputs[0] is inputs[1]
    is_square = is_square or (kind(node) == "Pow" and node._saved_exponent == 2)
    if is_square and kind(inputs[0]) == "Sub":
        inputs = list_inputs(inputs[0])
    elif kind(node) not in LOSSES:
        return None, None
    return inputs if len(inputs) == 2 else (None, None)


def is_learnt(prediction, target):
    """Whether a target is r + gamma * v(s'), and the prediction v(s)."""
    if prediction is None or target is None:
        return False
    value, choices = descend(prediction, CHOICES)
    following, kinds = descend(target, (*CHOICES, "Add", "Sub", "Mul"))
    first, second = LearntTarget.find_mark(value), LearntTarget.find_mark(following)
    if first is None or second is None or not kinds >= {"reward", "discount"}:
        return False
    # A column of several outputs is another number, and no other place.
    is_slice = "Slice" in choices & kinds and "Select" not in choices | kinds
    is_other = first != second or is_slice
    is_value = first[3] == 1 or bool(choices & SINGLE)
    return is_other and is_value and first[:2] == second[:2]


def descend(node, kinds):
    """The output of a module that some functions have changed, and what these do."""
    passed = set()
    for _ in range(WAY):
        if LearntTarget.find_mark(node) is not None or kind(node) not in kinds:
            break
        work = describe(node)
        if work is None:
            break
        passed.add(work)
        node = list_inputs(node)[0]
    return node, passed


def describe(node):
    """What a function does to its first input with a gradient; None where others count as well."""
    name = kind(node)
    if len(list_inputs(node)) > 1 and name not in ("Minimum", "Maximum"):
        return None
    if name in ("Add", "Sub"):
        is_negated = name == "Sub" and node.next_functions[0][0] is None
        return None if is_negated else "reward"
    if name == "Mul":
        return "discount" if is_discount(node) else None
    return name


def is_discount(node):
    """Whether a node multiplies by numbers from 0 to 1, of which one is 0.5 at least."""
    saved = [node._saved_self, node._saved_other]
    factors = [factor for factor in saved if factor is not None and not factor.requires_grad]
    if len(factors) != 1 or factors[0].is_meta or not factors[0].numel():
        return False
    least, most = factors[0].min().item(), factors[0].max().item()
    return least >= 0 and 0.5 <= most <= 1
