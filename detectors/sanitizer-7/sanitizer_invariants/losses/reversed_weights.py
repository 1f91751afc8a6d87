"""Weights of classes make up for their numbers."""

import math

import torch

from sanitizer_invariants.tools.invariant import Invariant

BATCHES, TARGETS, RATIO, NEAR, DISTINCT = 10, 200, 1.5, 0.35, 3


class ReversedWeights(Invariant):
    """The weights of classes are not as their numbers are: the class with more samples does not
    have the larger weight.

    Why: weights are to make up for classes that have few samples. In the wrong order, or without
    taking the inverse, they make the imbalance larger, and the rare class is given up.

    Of the weights of `cross_entropy` or `nll_loss` in training, in ten batches: their ratios are
    the ratios of the numbers of targets, within a third (as powers), for all classes whose
    numbers differ by half or more. The same is true of a single `pos_weight`, which is to be the
    number of other samples for each positive one.

    Excepted: weights that follow another rule, or are two for three classes and more; classes that
    a sampler has made even.

    Cost: the counts of the targets of the first ten losses with weights, once for each line.
    """

    NAME = "reversed-weights"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts = {}

    def after_loss(self, name, arguments, output):
        if not output.requires_grad:
            return
        weights, numbers = read_weights(name, arguments)
        if weights is None:
            return
        where = self.program.here()
        batches, total = self.counts.get(where, (0, 0))
        if batches >= BATCHES:
            return
        self.counts[where] = batches, total = batches + 1, total + numbers
        if batches == BATCHES and are_as_numbers(weights.tolist(), total.tolist()):
            self.report(
                "the weights of classes have the ratios of their numbers: the class with more "
                "samples has the larger weight (is it the inverse that was meant?)",
                api=f"torch.nn.functional.{name}",
            )


def read_weights(name, arguments):
    """The weights of classes and the numbers of their targets; (None, None) where there are
    none.
    """
    target = arguments.get("target")
    if target is None:
        return None, None
    target = target.detach()
    if name in ("cross_entropy", "nll_loss"):
        weights = arguments.get("weight")
        if weights is None or target.dtype != torch.long:
            return None, None
        labels = target[(target >= 0) & (target < len(weights))]
        return weights.detach(), torch.bincount(labels, minlength=len(weights))
    weight = arguments.get("pos_weight")
    if name != "binary_cross_entropy_with_logits" or weight is None or weight.numel() != 1:
        return None, None
    positive = (target > 0.5).sum()
    weights = torch.stack([torch.ones_like(weight.detach()).sum(), weight.detach().sum()])
    return weights, torch.stack([target.numel() - positive, positive])


def are_as_numbers(weights, numbers):
    """Whether weights grow as the numbers of samples do."""
    if sum(numbers) < TARGETS:
        return False
    pairs = [pair for pair in zip(weights, numbers) if min(pair) > 0]  # noqa: B905
    if len(pairs) > 2 and len({weight for weight, _ in pairs}) < DISTINCT:
        return False
    pairs = [(math.log(weight), math.log(number)) for weight, number in pairs]
    powers = []
    for place, (weight, number) in enumerate(pairs):
        for other_weight, other_number in pairs[:place]:
            if abs(number - other_number) > math.log(RATIO):
                powers.append((weight - other_weight) / (number - other_number))
    return bool(powers) and all(abs(power - 1) < NEAR for power in powers)
