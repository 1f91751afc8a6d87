"""The weight of each target in the gradients that are accumulated for a step."""

import torch

from sanitizer_invariants.tools.invariant import Invariant

STEPS = 3
PASSES = 3
SHARE = 0.1


class TokenWeights(Invariant):
    """In the passes that are accumulated for one step,
    each target of a mean cross entropy has the same weight.

    Why this is advice: with passes of unequal numbers of targets (padded text), the sum of their
    means gives a target of a short pass more weight than one of a long pass, and the step is not
    that of the whole batch. Most who accumulate want that step; but a mean of means is a loss too,
    with sequences in place of tokens as its units, and nothing in the program tells which is meant.
    So no error.

    Weights are taken from the gradient of each loss, so that a program that weighs its passes is
    not accused. They have to differ by more than a tenth (rounding, even of 8 bits, is less than a
    hundredth), in three steps, and not by the last pass alone, which may be what was left of the
    data. So three passes a step are needed; the first step that has them is counted, and not looked
    at.

    Excepted: passes with several cross entropies, losses that are not reduced to a mean, weighted
    classes, targets that are probabilities.

    Cost: in programs with three passes a step, a count of the targets of each cross entropy and a
    hook on its result.
    """

    NAME, SEVERITY = "token-weights", "info"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.weights, self.unequal, self.losses, self.passes = [], 0, 0, 0
        self.accumulates = False

    def after_backward(self, tensors):
        self.passes += 1

    def after_loss(self, name, arguments, output):
        self.losses += 1
        if not self.accumulates:
            return
        target = arguments.get("target")
        if (
            name != "cross_entropy"
            or arguments["reduction"] != "mean"
            or arguments["weight"] is not None
        ):
            return
        if (
            not isinstance(output, torch.Tensor)
            or not output.requires_grad
            or target.is_floating_point()
        ):
            return
        count = int((target != arguments["ignore_index"]).sum())
        output.register_hook(lambda gradient: self._note(count, gradient))

    def _note(self, count, gradient):
        if count and gradient.numel() == 1:
            self.weights.append(abs(float(gradient)) / count)

    def before_step(self, optimizer):
        weights, counts = self.weights, {self.losses, self.passes}
        self.accumulates = self.passes >= PASSES
        self.weights, self.losses, self.passes = [], 0, 0
        if counts != {len(weights)} or len(weights) < PASSES or min(weights) == 0:
            return
        earlier = weights[:-1]
        if max(earlier) / min(earlier) <= 1 + SHARE:
            return
        self.unequal += 1
        if self.unequal == STEPS:
            self.report(
                f"the {len(weights)} passes of a step weigh their targets differently, by a factor "
                f"of up to {max(weights) / min(weights):.2f}: the step is not that of the whole "
                "batch",
                api="torch.nn.functional.cross_entropy",
                iteration=self.program.iteration_of(optimizer),
            )
