"""A policy that has not moved yet is the one that has acted."""

import torch

from sanitizer_invariants.tools.graphs import SHAPES, find_roots, kind, list_inputs, walk
from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

PASSES, NODES, BEHIND = 20, 256, 20_000
PLACES = 8
# Which share of the ratios is 1 at least: where a mean is taken of all of them, and elsewhere.
SHARE_OF_ALL, SHARE = 0.75, 0.25
EXACT, ROUNDED = 1e-3, 2e-2
# What may stand between a ratio and the lesser of two products, and in the logarithm of a ratio.
OF_PRODUCT, OF_LOGARITHM = {"Mul", "Neg", *SHAPES}, {"Sum", "Mean", "Clamp", "Mul", *SHAPES}


class RatioOfPolicies(Invariant):
    """Before the first step of a policy the ratio of its probabilities to those that are stored is
    1, in the clipped surrogate of PPO and its relatives.

    Why: what is stored was computed by the same weights, for the same actions. A ratio of other
    numbers says that something else differs: dropout, a temperature, a normalisation, the action
    (clipped, squashed or drawn anew), the index, or the copy of the policy that has acted.

    Seen at `min(ratio * advantage, clamp(ratio, a, b) * advantage)`, a < 1 < b, of a ratio that is
    exp(x - y), where y has no gradient; in the first 20 backward passes, while none of the
    parameters behind it has made a step. Fewer than three quarters of the ratios are 1, or than a
    quarter where more than their mean is taken (some may be padding): within 0.001, and within 0.02
    on a GPU and where half precision or a cast is behind them.

    An error where the network was called without gradients before, as a policy is that acts; else
    advice: the stored numbers may be those of another policy (logged data).

    Excepted: fewer ratios than 8; policies that have made steps; other ways to write a surrogate.

    Cost: a walk over at most 256 nodes for each of these passes; where a surrogate is found, one
    over at most 20,000.
    """

    NAME = "ratio-of-policies"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.passes, self.known, self.moved = 0, IdentitySet(), set()
        # Parameters of networks that were called without gradients: of a policy that has acted.
        self.acted = set()

    def before_forward(self, module, arguments, options):
        if self.passes <= PASSES and not torch.is_grad_enabled():
            self.acted.update(id(parameter) for parameter in module.parameters())

    def after_step(self, optimizer):
        if self.passes <= PASSES and optimizer not in self.known:
            self.known.add(optimizer)
            self.moved.update(id(parameter) for parameter in list_parameters(optimizer))

    def before_backward(self, tensors):
        self.passes += 1
        if self.passes > PASSES:
            return
        for ratio, is_mean_of_all in find_ratios(find_roots(tensors)):
            leaves, share = self._share_of_ones(ratio)
            if share is not None and share < (SHARE_OF_ALL if is_mean_of_all else SHARE):
                has_acted = any(id(leaf) in self.acted for leaf in leaves)
                self._report(share, "error" if has_acted else "info")

    def _share_of_ones(self, ratio):
        """The parameters behind the ratios, and which share of these is 1; None where they may be
        others.
        """
        nodes = walk([ratio], BEHIND)
        leaves = [node.variable for node in nodes if hasattr(node, "variable")]
        if any(id(leaf) in self.moved for leaf in leaves):
            return leaves, None
        with torch.no_grad():
            values = ratio._saved_result.detach()
            if values.is_meta or values.numel() < PLACES:
                return leaves, None
            types = {values.dtype, *(leaf.dtype for leaf in leaves)}
            is_exact = not values.is_cuda and types <= {torch.float32, torch.float64}
            is_exact = is_exact and not any(kind(node) == "ToCopy" for node in nodes)
            near = (values - 1).abs() <= (EXACT if is_exact else ROUNDED)
            return leaves, near.double().mean().item()

    def _report(self, share, severity):
        self.report(
            f"the policy has not moved yet, and {1 - share:.0%} of the ratios of its probabilities "
            "to the stored ones are not 1: they were computed for other actions or inputs, with "
            "dropout, or by another policy",
            api="torch.exp",
            severity=severity,
        )


def find_ratios(roots):
    """The nodes of ratios, exp(x - y), of which surrogates are computed;
    with whether the loss is a mean of these.
    """
    ratios, nodes = [], walk(roots, NODES)
    means = {strip(node, {"Mean", "Neg"}) for node in nodes if kind(node) == "Mean"}
    for node in nodes:
        if kind(node) in ("Minimum", "Maximum") and len(list_inputs(node)) == 2:
            first, second = [strip(product, OF_PRODUCT) for product in list_inputs(node)]
            clipped, bare = (first, second) if kind(first) == "Clamp" else (second, first)
            if is_quotient(bare) and is_clipped(clipped, bare):
                ratios.append((bare, node in means))
    return ratios


def is_clipped(node, bare):
    """Whether a node clips a ratio to numbers about 1."""
    lowest, highest = getattr(node, "_saved_min", None), getattr(node, "_saved_max", None)
    if kind(node) != "Clamp" or not isinstance(lowest, float) or not isinstance(highest, float):
        return False
    is_about_one = 0 < lowest < 1 < highest <= 2
    return is_about_one and strip(list_inputs(node)[0], SHAPES) is bare


def is_quotient(ratio):
    """Whether a node is the exponential of a difference, of which one side has no gradient."""
    if kind(ratio) != "Exp":
        return False
    difference = strip(list_inputs(ratio)[0], OF_LOGARITHM)
    return (
        kind(difference) == "Sub"
        and len(difference.next_functions) == 2
        and len(list_inputs(difference)) == 1
    )


def strip(node, kinds):
    """The first function behind a node, itself included, that is of other kinds
    or has several inputs.
    """
    while kind(node) in kinds and len(list_inputs(node)) == 1:
        node = list_inputs(node)[0]
    return node
