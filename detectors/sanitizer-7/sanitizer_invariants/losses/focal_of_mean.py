"""What is computed of single losses is not computed of their mean."""

import torch

from sanitizer_invariants.tools.graphs import MarkingInvariant, kind, list_inputs, walk

LOSSES = ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
NODES, FACTOR = 64, 16


class FocalOfMean(MarkingInvariant):
    """No x, the mean of cross-entropies over a batch, is multiplied by what is made of exp(-x).

    Why: exp(-x) of the cross-entropy of one sample is the probability of its class, by which a
    focal loss weights it. Of the mean it is no probability of anything, and all samples get the
    same weight: the loss is a plain cross-entropy with another learning rate. (`reduction="none"`
    gives single losses.)

    Excepted: means of one sample, exp(x) (a perplexity), exp(-x) that is no factor of x (the odds
    of one text by the mean over its tokens), and what no backward pass begins from.

    Cost: a mark for each mean loss, and a walk over at most 64 nodes, and over 16 for each factor
    of a product.
    """

    NAME = "focal-of-mean"
    VERSION = 2

    def after_loss(self, name, arguments, output):
        target = arguments.get("target")
        several = isinstance(target, torch.Tensor) and target.dim() > 0 and len(target) > 1
        if (
            name in LOSSES
            and arguments.get("reduction") == "mean"
            and several
            and output.grad_fn is not None
        ):
            self.mark(output, self.program.here())

    def look_at(self, root):
        where = find_focal(root)
        if where is not None:
            self.report(
                "a weight is made of exp(-x), where x is the mean loss of a batch: it is the "
                "same for all samples",
                api="torch.nn.functional.cross_entropy",
                where=where,
            )


def find_focal(root):
    """Where a mean was computed that a loss has as x times something with exp(-x), or None."""
    for node in reach(root, NODES):
        factors = list_inputs(node) if kind(node) == "Mul" else []
        if len(factors) != 2:
            continue
        first, second = factors
        common = find_common(first, second) or find_common(second, first)
        if common is not None:
            return FocalOfMean.find_mark(common)
    return None


def find_common(factor, weight):
    """The first mean behind a factor of which the weight has exp(-x), or None."""
    weighted = weighting(weight)
    for node in reach(factor, FACTOR):
        if FocalOfMean.find_mark(node) is not None and node in weighted:
            return node
    return None


def weighting(factor):
    """The means x of which a factor has exp(-x)."""
    exponentials = [node for node in reach(factor, FACTOR, True) if kind(node) == "Exp"]
    negated = [node.next_functions[0][0] for node in exponentials]
    inner = [node.next_functions[0][0] for node in negated if kind(node) == "Neg"]
    return [node for node in inner if node is not None and FocalOfMean.find_mark(node) is not None]


def reach(root, limit, inside=False):
    """Some nodes behind a root: none behind a mean,
    and none inside of exp(…) unless it is asked for.
    """

    def is_end(node):
        is_mean = FocalOfMean.find_mark(node) is not None
        return is_mean or (kind(node) == "Exp" and not inside)

    return walk([root], limit, is_end)
