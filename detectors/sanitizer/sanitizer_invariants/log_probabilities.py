"""Losses that take log-probabilities get them, over the axis of the classes."""

import torch

from sanitizer_invariants.base import Invariant
from sanitizer_invariants.probabilities_as_logits import are_probabilities, source

ARGUMENTS = {"nll_loss": "input", "kl_div": "input", "ctc_loss": "log_probs"}
LAYERS = ("Addmm", "Mm", "Convolution", "Bmm")
CALLS = 3
# To read numbers makes a GPU wait: so many calls in a row are looked at of so many.
ROW, EVERY = 50, 500
ROUNDING = 0.05


class LogProbabilities(Invariant):
    """What `nll_loss`, `kl_div` and `ctc_loss` take for log-probabilities are logarithms, of numbers that sum up to 1.

    Why: they are the second half of a cross-entropy. Of probabilities without a logarithm, of the plain outputs of a
    layer, or where the softmax was taken over the batch, the loss is a number like any other.

    Seen are, in three calls in a row at one line: rows that are probabilities; the outputs of a linear layer or of a
    convolution, some of which are positive; a log-softmax whose exponentials sum up to 1 over another axis than that of
    the classes, and not over that. Excepted: everything else, such as log-probabilities that are weighted (a policy's
    gradient), masked, or restricted to some classes.

    Cost: a walk over a few nodes, and a look at the numbers, in 50 of 500 calls.
    """

    NAME = "log-probabilities"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.wrong = 0, {}

    def after_loss(self, name, arguments, output):
        given = arguments.get(ARGUMENTS.get(name))
        if not isinstance(given, torch.Tensor) or given.is_meta or given.dim() < 2 or not given.is_floating_point():
            return
        self.calls += 1
        if self.calls % EVERY < ROW and given.numel():
            where, what = self.program.here(), fault(given, 1 if name == "nll_loss" else -1)
            self.wrong[where] = self.wrong.get(where, 0) + 1 if what else 0
            if self.wrong[where] == CALLS:
                self.report(f"{name} takes log-probabilities and gets {what}", api=f"torch.nn.functional.{name}")


def fault(given, dim):
    """What is given in place of log-probabilities, or None."""
    made, numbers = source(given), given.detach()
    if are_probabilities(numbers.movedim(dim, 1)):
        return "probabilities: the logarithm is missing"
    if made in LAYERS and bool((numbers > 0).any()):
        return "the plain outputs of a layer: the log-softmax is missing"
    if made == "LogSoftmax" and not sums_up(numbers, dim):
        others = [each for each in range(numbers.dim()) if each != dim % numbers.dim() and numbers.shape[each] > 1]
        if any(sums_up(numbers, each) for each in others):
            return "a log-softmax over another axis than that of the classes"
    return None


def sums_up(numbers, dim):
    """Whether the exponentials along an axis sum up to 1."""
    return bool((numbers.double().logsumexp(dim).abs() < ROUNDING).all())
