"""What an optimizer saves is all that its next step needs."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.trials import Trial, can_be_tried, draw_like, is_of_others

# At the second and third of these numbers many cycles of an optimizer are over.
BEFORE, AFTER, SHARE = (7, 12, 20), 6, 1e-3
SIMPLE = (type(None), bool, int, float, str)


class ResumesOtherwise(Invariant):
    """The steps after `load_state_dict` are the steps without a break.

    Why: `state_dict` of an optimizer is to hold its whole state. What it leaves out begins anew
    when training is resumed: a count of steps that corrects a bias, slow weights, the state of an
    optimizer inside of it.

    At the first loading a copy of the optimizer does seven steps and saves itself. Another copy
    gets the weights, loads what was saved, and both do six steps by the same
    gradients. Weights that differ by over a thousandth of what the steps have moved are others,
    if they are after 12 and after 20 steps as well.

    Looked at are optimizers that torch has not written, and that are loaded or said to be saved by
    the program.

    Excepted: what draws random numbers, asks for a closure, cannot be copied or has over a million
    numbers, names what is the program's, or holds a network; an optimizer that the program gives
    another attribute between the loading and the next step, or whose inner one it loads as well.

    Cost: once for each optimizer that is loaded, forty steps; where it differs, a hundred more.
    """

    NAME, LIGHT = "resumes-otherwise", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tried, self.waiting = IdentitySet(), IdentityTable()

    def before_load(self, loaded, state):
        if not isinstance(loaded, torch.optim.Optimizer):
            return
        for other in list(self.waiting):
            # The program loads what is inside by itself.
            if other is not loaded and any(value is loaded for value in vars(other).values()):
                del self.waiting[other]
        if loaded in self.tried:
            return
        self.tried.add(loaded)
        if not is_of_others(loaded) or not can_be_tried(loaded):
            return
        share = copies.attempt(self.program, compare, loaded)
        if share is None or share <= SHARE:
            return
        self.waiting[loaded] = share, self.program.here(), None

    def after_load(self, loaded):
        if loaded in self.waiting:
            self.waiting[loaded] = (*self.waiting[loaded][:2], describe(loaded))

    def before_step(self, optimizer):
        if optimizer in self.waiting:
            share, where, attributes = self.waiting.pop(optimizer)
            if attributes in (None, describe(optimizer)):
                self._report(optimizer, share, where)

    def end(self):
        for optimizer in list(self.waiting):
            self.before_step(optimizer)

    def _report(self, loaded, share, where):
        self.report(
            f"{type(loaded).__name__} goes on otherwise from what it has saved: of {AFTER} steps "
            f"after loading, {share:.1%} of the way differs from the steps without a break",
            api=f"{type(loaded).__module__}.{type(loaded).__name__}.state_dict",
            where=where,
        )


def compare(optimizer):
    """By which share of the way weights differ after a break; 0 where steps do not repeat."""
    shares = []
    for before in BEFORE:
        plain, again = (go_on(optimizer, before, is_broken=False) for _ in range(2))
        if not copies.are_identical(plain[1], again[1]):
            return 0.0
        broken = go_on(optimizer, before, is_broken=True)
        way = distance(plain[0], plain[1])
        shares.append(distance(plain[1], broken[1]) / way if way > 0 else 0.0)
        if shares[-1] <= SHARE:
            break
    return min(shares)


def describe(optimizer):
    """The attributes of an optimizer: what the program restores by itself is another one then."""
    return {
        name: value if isinstance(value, SIMPLE) else id(value)
        for name, value in vars(optimizer).items()
    }


def go_on(optimizer, before, is_broken):
    """The weights after the first steps, and after the others."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    trial = Trial(optimizer)
    with torch.enable_grad():
        for _ in range(before):
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
