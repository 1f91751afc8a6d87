"""What a loss ignores has no gradient."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

CALLS, HITS, SHARE = 20, 3, 1e-6


class IgnoredGradient(Invariant):
    """Outputs whose targets a loss ignores have no gradient.

    Why: `ignore_index` says that a target stands for nothing. Where a part of the loss counts these
    places all the same, as the even part of smoothed labels does, padding is learnt.

    Of a module without parameters that has an `ignore_index`, as `nn.CrossEntropyLoss` does, and is
    called with scores and whole numbers, of which some are this one: a copy of the scores has a
    gradient there. In three of the first 20 calls with such targets, in training.

    Excepted: losses that are no single number; what draws random numbers.

    Cost: a second call with its gradients for at most 20 losses with ignored targets.
    """

    NAME, LIGHT = "ignored-gradient", False
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.hits = IdentityTable(), IdentityTable()

    def after_forward(self, module, arguments, options, output):
        index = getattr(module, "ignore_index", None)
        is_loss = isinstance(output, torch.Tensor) and not output.dim() and output.requires_grad
        if not isinstance(index, int) or isinstance(index, bool) or not is_loss:
            return
        if any(True for _ in module.parameters()):
            # A network, and no loss.
            return
        if self.calls.get(module, 0) >= CALLS or options or len(arguments) != 2:
            return
        scores, target = arguments
        if not are_scores(scores, target) or not bool((target == index).any()):
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        share = copies.attempt(self.program, find_ignored_share, module, scores, target, index)
        if share is not None and share > SHARE:
            self.hits[module] = self.hits.get(module, 0) + 1
            if self.hits[module] == HITS:
                self.report(
                    f"{type(module).__name__} ignores targets of {index}, and has {share:.0%} of "
                    "its gradient at their places",
                    api=f"{type(module).__module__}.{type(module).__name__}",
                )


def are_scores(scores, target):
    """Whether these are scores of classes, (n, classes) or (n, classes, places), and targets."""
    are_tensors = isinstance(scores, torch.Tensor) and isinstance(target, torch.Tensor)
    if not are_tensors or not scores.is_floating_point() or target.dtype != torch.long:
        return False
    return (scores.shape[0], *scores.shape[2:]) == tuple(target.shape)


def find_ignored_share(module, scores, target, index):
    """The share of the gradient that is at ignored places."""
    leaf = scores.detach().clone().requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(module(leaf, target), leaf)
    by_place = gradient.abs().sum(1)
    total = float(by_place.sum())
    return float(by_place[target == index].sum()) / total if total > 0 else 0.0
