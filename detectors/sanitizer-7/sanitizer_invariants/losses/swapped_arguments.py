"""Predictions and targets are in their places."""

import torch

from sanitizer_invariants.tools.invariant import Invariant

LOSSES = (
    "cross_entropy",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "poisson_nll_loss",
)


class SwappedArguments(Invariant):
    """A cross-entropy is not given targets that were computed with gradients for predictions
    without.

    Why: it takes the logarithm of the predictions. With both in the other's place it takes that of
    the labels, and is smallest somewhere else.

    Excepted: losses that are the same either way, and `kl_div`, which some use in the other
    direction.

    Cost: two flags for each loss.
    """

    NAME = "swapped-arguments"
    VERSION = 2

    def after_loss(self, name, arguments, output):
        inputs, target = arguments.get("input"), arguments.get("target")
        if (
            name not in LOSSES
            or not isinstance(target, torch.Tensor)
            or not isinstance(inputs, torch.Tensor)
        ):
            return
        if target.grad_fn is not None and not inputs.requires_grad and output.requires_grad:
            self.report(
                f"{name} has a target with gradients and an input without: are they in each "
                "other's place?",
                api=f"torch.nn.functional.{name}",
            )
