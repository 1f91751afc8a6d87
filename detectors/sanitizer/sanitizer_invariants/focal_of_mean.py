"""What is computed of single losses is not computed of their mean."""

import torch

from sanitizer_invariants.base import Invariant

LOSSES = ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
MARK, NODES = "mean loss of the sanitizer", 64


class FocalOfMean(Invariant):
    """No loss is made of exp(-x) where x is the mean of cross-entropies over a batch.

    Why: exp(-x) of the cross-entropy of one sample is the probability of its class, by which a focal loss weights it.
    Of the mean it is no probability of anything, and all samples get the same weight: the loss is a plain cross-entropy
    with another learning rate. (`reduction="none"` gives single losses.)

    Excepted: means of one sample, exp(x) (a perplexity), and what no backward pass begins from.

    Cost: a mark for each mean loss, and a walk over at most 64 nodes.
    """

    NAME = "focal-of-mean"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.marked = False

    def after_loss(self, name, arguments, output):
        target = arguments.get("target")
        several = isinstance(target, torch.Tensor) and target.dim() > 0 and len(target) > 1
        if name in LOSSES and arguments.get("reduction") == "mean" and several and output.grad_fn is not None:
            output.grad_fn.metadata[MARK] = self.program.here()
            self.marked = True

    def before_backward(self, tensors):
        if not self.marked:
            return
        self.marked = False
        for loss in [tensors] if isinstance(tensors, torch.Tensor) else tensors:
            where = found(loss.grad_fn)
            if where is not None:
                self.report(
                    "a weight is made of exp(-x), where x is the mean loss of a batch: it is the same for all samples",
                    api="torch.nn.functional.cross_entropy",
                    where=where,
                )


def found(loss):
    """Where the mean was computed of which a loss has exp(-x), or None."""
    following = [loss] if loss is not None else []
    for node in following:
        parts = [each for each, _ in node.next_functions if each is not None]
        if kind(node) == "Exp" and parts and kind(parts[0]) == "Neg":
            inner = parts[0].next_functions[0][0]
            if inner is not None and MARK in inner.metadata:
                return inner.metadata[MARK]
        if MARK not in node.metadata and len(following) < NODES:
            following += [each for each in parts if each not in following]
    return None


def kind(node):
    return node.name().partition("Backward")[0]
