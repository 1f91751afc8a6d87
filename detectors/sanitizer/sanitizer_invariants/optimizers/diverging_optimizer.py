"""An optimizer goes down a bowl."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant, list_parameters
from sanitizer_invariants.tools.trials import Trial, can_be_tried, is_of_others, list_learnt

CURVATURE, FAR, STEPS_AWAY, GROWTH, BEYOND = 0.1, 10, 2, 2, 1e6
# Of few numbers many steps cost little; a factor of a few per cent a step takes as many to show.
FEW, STEPS, STEPS_OF_MANY = 2**17, 400, 100


class DivergingOptimizer(Invariant):
    """An optimizer does not walk away from the minimum of a bowl.

    Why: half of the sum of squares, times a curvature, is the easiest function there is. Where the
    product of learning rate and curvature is a tenth, gradient descent goes down, with momentum
    too. An optimizer that scales its steps goes no further than a rate a step, and turns round
    behind the minimum. A wrong correction of a bias, or a wrong sign, moves further and further.

    A copy of the optimizer does 400 steps from the weights of the program.
    Away is what is ten times as far from the minimum as the farthest weight at the beginning,
    further than two rates a step could go, and twice as far as after half of the steps, or a
    million times beyond that; and what is no number.

    Looked at are optimizers that torch has not written; `shadow-step` looks at those of torch.

    Excepted: optimizers that maximize, ask for a closure, cannot be copied or have over a million
    numbers, name what is the program's, or hold a network; those that have learnt something before
    their first step, such as a curvature; a learning rate that is no number above 0.

    Cost: once for each optimizer, 400 steps; of more than 131,072 numbers a hundred.
    """

    NAME, LIGHT = "diverging-optimizer", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tried = IdentitySet()

    def before_step(self, optimizer):
        if optimizer in self.tried:
            return
        self.tried.add(optimizer)
        rate = find_rate(optimizer)
        if rate is None or not is_of_others(optimizer) or not can_be_tried(optimizer):
            return
        if list_learnt(optimizer):
            return
        size = sum(value.numel() for value in list_parameters(optimizer))
        steps = STEPS if size <= FEW else STEPS_OF_MANY
        distances = copies.attempt(self.program, walk, optimizer, rate, steps)
        if distances is None:
            return
        before, middle, after = distances
        limit = max(FAR * before, STEPS_AWAY * steps * rate)
        goes_on = after >= GROWTH * middle or after > BEYOND * limit
        if after <= limit or not goes_on:
            return
        self.report(
            f"on a bowl of curvature {min(1.0, CURVATURE / rate):.2g}, {steps} steps of "
            f"{type(optimizer).__name__} with a learning rate of {rate:.2g} walk away from the "
            f"minimum: from a distance of {before:.2g} to {after:.2g}",
            api=f"{type(optimizer).__module__}.{type(optimizer).__name__}.step",
            iteration=self.program.iteration_of(optimizer),
        )


def find_rate(optimizer):
    """The largest learning rate of the groups; None where there is none, or one maximizes."""
    rates = [group.get("lr") for group in optimizer.param_groups]
    if any(group.get("maximize") for group in optimizer.param_groups):
        return None
    if not all(isinstance(rate, (int, float, torch.Tensor)) for rate in rates):
        return None
    largest = max(map(float, rates), default=0.0)
    return largest if largest > 0 else None


def walk(optimizer, rate, steps):
    """How far the farthest weight is from the minimum, before, half-way and after the steps."""
    trial = Trial(optimizer)
    curvature = min(1.0, CURVATURE / rate)
    with torch.enable_grad():
        before = measure(trial.values())
        for number in range(steps):
            if number == steps // 2:
                middle = measure(trial.values())
            trial.step([curvature * value for value in trial.values()])
        after = measure(trial.values())
    return before, middle, after


def measure(values):
    """The largest size among the numbers; infinite where one is none."""
    sizes = torch.stack([value.abs().max().double().cpu() for value in values if value.numel()])
    largest = sizes.max().item()
    return largest if bool(torch.isfinite(sizes).all()) else float("inf")
