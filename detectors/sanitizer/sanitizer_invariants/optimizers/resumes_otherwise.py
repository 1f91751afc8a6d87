"""What an optimizer saves is all that its next step needs."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.trials import Trial, can_be_tried, draw_like, is_of_others

BEFORE, AFTER, SHARE = 7, 6, 1e-3


class ResumesOtherwise(Invariant):
    """The steps after `load_state_dict` are the steps without a break.

    Why: `state_dict` of an optimizer is to hold its whole state. What it leaves out begins anew
    when training is resumed: a count of steps that corrects a bias, slow weights, the state of an
    optimizer inside of it.

    At the first loading a copy of the optimizer does seven steps and saves itself. Another copy
    gets the weights, loads what was saved, and both do six steps by the same
    gradients. Weights that differ by over a thousandth of what the steps have moved are others.

    Looked at are optimizers that torch has not written, and that are loaded or said to be saved by
    the program.

    Excepted: what draws random numbers, asks for a closure, cannot be copied or has over a million
    numbers.

    Cost: once for each optimizer that is loaded, forty steps.
    """

    NAME, LIGHT = "resumes-otherwise", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tried = weakref.WeakSet()

    def before_load(self, loaded, state):
        if not isinstance(loaded, torch.optim.Optimizer) or loaded in self.tried:
            return
        self.tried.add(loaded)
        if not is_of_others(loaded) or not can_be_tried(loaded):
            return
        share = copies.attempt(self.program, compare, loaded)
        if share is None or share <= SHARE:
            return
        self.report(
            f"{type(loaded).__name__} goes on otherwise from what it has saved: of {AFTER} steps "
            f"after loading, {share:.1%} of the way differs from the steps without a break",
            api=f"{type(loaded).__module__}.{type(loaded).__name__}.state_dict",
        )


def compare(optimizer):
    """By which share of the way weights differ after a break; 0 where steps do not repeat."""
    plain, again = (go_on(optimizer, is_broken=False) for _ in range(2))
    if not copies.are_identical(plain[1], again[1]):
        return 0.0
    broken = go_on(optimizer, is_broken=True)
    way = distance(plain[0], plain[1])
    return distance(plain[1], broken[1]) / way if way > 0 else 0.0


def go_on(optimizer, is_broken):
    """The weights after the first steps, and after the others."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    trial = Trial(optimizer)
    with torch.enable_grad():
        for _ in range(BEFORE):
            trial.step(draw_like(trial.parameters, generator))
        middle = trial.values()
        if is_broken:
            trial = resumed(optimizer, trial, middle)
        for _ in range(AFTER):
            trial.step(draw_like(trial.parameters, generator))
    return middle, trial.values()


def resumed(optimizer, stopped, weights):
    """A trial that has loaded what another one has saved."""
    trial = Trial(optimizer)
    with torch.no_grad():
        for parameter, value in zip(trial.parameters, weights):  # noqa: B905
            parameter.copy_(value)
    trial.optimizer.load_state_dict(stopped.optimizer.state_dict())
    return trial


def distance(first, second):
    """The norm of the difference of two lists of tensors."""
    squares = [
        (one.double() - other.double()).pow(2).sum()
        for one, other in zip(first, second)  # noqa: B905
    ]
    return torch.stack(squares).sum().sqrt().item()
