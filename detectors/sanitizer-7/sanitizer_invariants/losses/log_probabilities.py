"""Losses that take log-probabilities get them, over the axis of the classes."""

import torch

from sanitizer_invariants.tools.graphs import find_origin, find_roots, kind
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.probabilities import are_probabilities

ARGUMENTS = {"nll_loss": "input", "kl_div": "input", "ctc_loss": "log_probs"}
LAYERS = ("Addmm", "Mm", "Convolution", "Bmm")
CALLS = 3
# To read numbers makes a GPU wait: so many calls in a row are looked at of so many.
ROW, EVERY = 50, 500
ROUNDING = 0.05
OUTPUTS = "the plain outputs of a layer: the log-softmax is missing"
# What brings the rest of a cross-entropy of which a loss got plain outputs.
MARK, RESTS, NODES = "plain outputs by the sanitizer", ("Logsumexp", "Exp"), 64


class LogProbabilities(Invariant):
    """What `nll_loss`, `kl_div` and `ctc_loss` take for log-probabilities are logarithms,
    of numbers that sum up to 1.

    Why: they are the second half of a cross-entropy. Of probabilities without a logarithm, of the
    plain outputs of a layer, or where the softmax was taken over the batch, the loss is a number
    like any other.

    Seen are, in three calls in a row at one line: rows that are probabilities; the outputs of a
    linear layer or of a convolution, some of which are positive; a log-softmax whose exponentials
    sum up to 1 over another axis than that of the classes, and not over that. `kl_div` knows no
    axis of classes: it is one over which the targets sum up to 1. Excepted: everything else, such
    as log-probabilities that are weighted (a policy's gradient), masked, or restricted to some
    classes; targets of `kl_div` that sum up to 1 over no axis; outputs of a layer of which a term
    of the same loss has the logarithm of the sum of exponentials: together these are a
    cross-entropy. So outputs of a layer are counted by the backward pass that follows.

    Cost: a walk over a few nodes (64 where a layer's outputs were given), and a look at the numbers
    (with `kl_div` a sum of the targets over each axis), in 50 of 500 calls.
    """

    NAME = "log-probabilities"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.counts, self.pending = 0, {}, {}

    def after_loss(self, name, arguments, output):
        inputs = arguments.get(ARGUMENTS.get(name))
        if (
            not isinstance(inputs, torch.Tensor)
            or inputs.is_meta
            or inputs.dim() < 2
            or not inputs.is_floating_point()
        ):
            return
        self.calls += 1
        if self.calls % EVERY < ROW and inputs.numel():
            where, origin_node = self.program.here(), find_origin(inputs.grad_fn)
            problem = find_fault(
                inputs.detach(), kind(origin_node), class_axes(name, inputs, arguments)
            )
            if problem == OUTPUTS:
                origin_node.metadata.setdefault(MARK, set()).add(where)
                self.pending[where] = name
            else:
                self._count(where, name, problem)

    def before_backward(self, tensors):
        if not self.pending:
            return
        whole = find_completed(find_roots(tensors))
        for where, name in self.pending.items():
            self._count(where, name, None if where in whole else OUTPUTS)
        self.pending.clear()

    def _count(self, where, name, find_fault):
        self.counts[where] = self.counts.get(where, 0) + 1 if find_fault else 0
        if self.counts[where] == CALLS:
            self.report(
                f"{name} takes log-probabilities and gets {find_fault}",
                api=f"torch.nn.functional.{name}",
                where=where,
            )


def class_axes(name, inputs, arguments):
    """The axes of which one is that of the classes: the one that a loss has,
    or those that its targets tell.
    """
    if name != "kl_div":
        return [1 if name == "nll_loss" else inputs.dim() - 1]
    target = arguments["target"].detach()
    if target.shape != inputs.shape or not target.is_floating_point():
        return []
    target = target.exp() if arguments["log_target"] else target
    return [
        axis
        for axis in range(target.dim())
        if target.shape[axis] > 1 and is_distribution(target, axis)
    ]


def is_distribution(target, axis):
    """Whether targets sum up to 1 along an axis, except for those that padding has made zero."""
    sums = target.sum(axis, dtype=torch.float64)
    sum_to_one = (sums - 1).abs() < ROUNDING
    return bool(sum_to_one.any()) and bool((sum_to_one | (sums == 0)).all())


def find_fault(numbers, function, classes):
    """What is given in place of log-probabilities over one of some axes, or None."""
    if any(are_probabilities(numbers.movedim(axis_of_classes, 1)) for axis_of_classes in classes):
        return "probabilities: the logarithm is missing"
    if classes and function in LAYERS and bool((numbers > 0).any()):
        return OUTPUTS
    if (
        classes
        and function == "LogSoftmax"
        and not any(sums_up(numbers, axis_of_classes) for axis_of_classes in classes)
    ):
        other_axes = [
            axis for axis in range(numbers.dim()) if axis not in classes and numbers.shape[axis] > 1
        ]
        if any(sums_up(numbers, axis_of_classes) for axis_of_classes in other_axes):
            return "a log-softmax over another axis than that of the classes"
    return None


def sums_up(numbers, dim):
    """Whether the exponentials along an axis sum up to 1."""
    return bool((numbers.double().logsumexp(dim).abs() < ROUNDING).all())


def find_completed(nodes):
    """The lines where plain outputs were given to a loss,
    to which a term of the losses of these nodes is the rest.
    """
    following = [node for node in nodes if node is not None]
    lines = set()
    for node in following:
        parts = [
            following_node
            for following_node, _ in node.next_functions
            if following_node is not None
        ]
        origin_node = find_origin(parts[0]) if parts and kind(node) in RESTS else None
        if origin_node is not None:
            lines |= origin_node.metadata.get(MARK, set())
        if len(following) < NODES and MARK not in node.metadata:
            following += [part for part in parts if part not in following]
    return lines
