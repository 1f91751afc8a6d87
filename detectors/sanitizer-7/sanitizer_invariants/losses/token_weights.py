"""The weight of each target in the gradients that are accumulated for a step."""

import torch

from sanitizer_invariants.tools.invariant import Invariant

STEPS, LATER = 3, 20
PASSES = 2
SHARE, MUCH = 0.1, 0.5


class TokenWeights(Invariant):
    """In the passes that are accumulated for one step,
    each target of a mean cross entropy has the same weight.

    Why: with passes of unequal numbers of targets (padded text), the sum of their means gives a
    target of a short pass more weight than one of a long pass, and the step is not that of the
    whole batch. Who accumulates passes wants that step.

    An error where targets are left out (`ignore_index`, as in padded text) and weights differ by
    more than a half. Else advice: a mean of means is a loss too, with sequences in place of tokens
    as its units, and nothing in the program tells which is meant.

    Weights are taken from the gradient of each loss, so that a program that weighs its passes is
    not accused. They have to differ by more than a tenth (rounding, even of 8 bits, is less than a
    hundredth), in three steps, and not by the last pass alone, which may be what was left of the
    data: of two passes either is to be the heavier one at times. The first step that has several
    passes is counted, and not looked at.

    Excepted: passes of several tasks, whose losses are made at other lines or are of other classes;
    passes with several cross entropies, losses that are not reduced to a mean, weighted
    classes, targets that are probabilities.

    Cost: in programs with two passes a step, a count of the targets of each cross entropy and a
    hook on its result.
    """

    NAME, SEVERITY = "token-weights", "info"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.weights, self.losses, self.passes, self.kinds = [], 0, 0, set()
        self.accumulates, self.leaves_out = False, False
        self.unequal, self.severe = Differences(), Differences()

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
        self.leaves_out = self.leaves_out or count < target.numel()
        logits = arguments["input"]
        classes = logits.shape[1 if logits.dim() > 1 else 0]
        self.kinds.add((logits.dim(), classes, self.program.here()))
        output.register_hook(lambda gradient: self._note(count, gradient))

    def _note(self, count, gradient):
        if count and gradient.numel() == 1:
            self.weights.append(abs(float(gradient)) / count)

    def before_step(self, optimizer):
        weights, counts = self.weights, {self.losses, self.passes}
        self.accumulates = self.passes >= PASSES
        kinds, self.kinds = self.kinds, set()
        self.weights, self.losses, self.passes = [], 0, 0
        if len(kinds) != 1:
            return
        if counts != {len(weights)} or len(weights) < PASSES or min(weights) == 0:
            return
        compared = weights[:-1] if len(weights) > PASSES else weights
        factor = max(compared) / min(compared)
        self.unequal.count(weights, factor > 1 + SHARE)
        self.severe.count(weights, factor > 1 + MUCH)
        if self.leaves_out and self.severe.are_enough():
            self._report(optimizer, weights, "error")
        # What is said once at a line is not said again: an error may come yet.
        elif self.unequal.are_enough(LATER if self.leaves_out else STEPS):
            self._report(optimizer, weights, "info")

    def _report(self, optimizer, weights, severity):
        self.report(
            f"the {len(weights)} passes of a step weigh their targets differently, by a factor "
            f"of up to {max(weights) / min(weights):.2f}: the step is not that of the whole "
            "batch",
            api="torch.nn.functional.cross_entropy",
            iteration=self.program.iteration_of(optimizer),
            severity=severity,
        )


class Differences:
    """How many steps weighed their passes differently, and in which of two orders."""

    def __init__(self):
        self.steps, self.orders = 0, set()

    def count(self, weights, is_different):
        if is_different:
            self.steps += 1
            # With more than two passes the last one is left out, and the order says nothing.
            self.orders.update({True, False} if len(weights) > 2 else {weights[0] > weights[1]})

    def are_enough(self, least=STEPS):
        return self.steps >= least and len(self.orders) == 2
