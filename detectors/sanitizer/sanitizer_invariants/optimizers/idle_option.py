"""The options of an optimizer change its steps."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters
from sanitizer_invariants.tools.trials import Trial, can_be_tried, draw_like, is_of_others

FACTORS = {"lr": 0.5, "weight_decay": 1000.0, "momentum": 0.5}
STEPS, MORE_STEPS, LOADINGS = 8, 64, 3
# A decay may be of matrices alone; the signs of few numbers are often the same by chance.
LEAST = 64


class IdleOption(Invariant):
    """Another learning rate, weight decay or momentum leads to other steps.

    Why: an option that is given has an effect. A schedule writes the learning rate into the groups;
    an optimizer that keeps the rate of its beginning, or reads another place, trains on as if there
    were no schedule. A weight decay that nobody reads leaves the network without regularisation.

    Two copies of the optimizer do eight steps by the same gradients, one of them with half of the
    rate, half of the momentum or a thousand times the decay. Where all weights end the same to the
    last bit, after 64 steps as well, the option does nothing.

    Looked at are optimizers that torch has not written, and options that are single numbers above
    0 in all groups. The rate is looked at only where it has changed between two steps: a schedule
    drives it. It is looked at once more after a loading of
    an optimizer or a schedule, three times at most.

    Excepted: what draws random numbers, asks for a closure, cannot be copied or has over a million
    numbers, names what is the program's, or holds a network; a decay or momentum of less than 64
    numbers, or of vectors alone.

    Cost: once for each optimizer and option, 24 steps; where it is idle, 200 more.
    """

    NAME, LIGHT = "idle-option", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.rates, self.tried = IdentityTable(), IdentityTable()
        self.loadings = 0

    def before_step(self, optimizer):
        tried = self.tried.setdefault(optimizer, set())
        if len(tried) == len(FACTORS) or not is_of_others(optimizer):
            return
        rates = [group.get("lr") for group in optimizer.param_groups]
        for option in FACTORS:
            is_due = option != "lr" or rates != self.rates.setdefault(optimizer, rates)
            is_due = is_due and (option == "lr" or has_matrices(optimizer))
            if option not in tried and is_due and is_given(optimizer, option):
                tried.add(option)
                self._try(optimizer, option)

    def after_step(self, optimizer):
        # What the optimizer writes there by itself is no schedule.
        if optimizer in self.rates:
            self.rates[optimizer] = [group.get("lr") for group in optimizer.param_groups]

    def after_load(self, loaded):
        # What was loaded may have taken the place of what a schedule drives.
        if isinstance(loaded, torch.nn.Module) or self.loadings == LOADINGS:
            return
        self.loadings += 1
        for optimizer, tried in self.tried.items():
            tried.discard("lr")
            self.rates.pop(optimizer, None)

    def _try(self, optimizer, option):
        if not can_be_tried(optimizer):
            return
        if not copies.attempt(self.program, is_idle, optimizer, option):
            return
        value = optimizer.param_groups[0][option]
        self.report(
            f"{option} = {float(value):.2g} changes nothing: {STEPS} steps are the same with "
            f"{float(value) * FACTORS[option]:.2g}",
            api=f"{type(optimizer).__module__}.{type(optimizer).__name__}.step",
            iteration=self.program.iteration_of(optimizer),
        )


def is_given(optimizer, option):
    """Whether all groups have a number above 0 for it."""
    values = [group.get(option) for group in optimizer.param_groups]
    return all(isinstance(value, float) and value > 0 for value in values)


def has_matrices(optimizer):
    parameters = list_parameters(optimizer)
    size = sum(value.numel() for value in parameters)
    return size >= LEAST and any(value.dim() > 1 for value in parameters)


def is_idle(optimizer, option):
    """Whether steps are the same, whatever the option; False where they do not repeat themselves,
    or do not move.
    """
    for seed, steps in enumerate((STEPS, MORE_STEPS)):
        start, plain = take_steps(optimizer, seed, steps)
        _, again = take_steps(optimizer, seed, steps)
        _, other = take_steps(optimizer, seed, steps, option)
        is_finite = all(bool(torch.isfinite(value).all()) for value in plain)
        moves = is_finite and not copies.are_identical(start, plain)
        if not (moves and copies.are_identical(plain, again)):
            return False
        if not copies.are_identical(plain, other):
            return False
    return True


def take_steps(optimizer, seed, steps, option=None):
    """The weights before and after some steps by random gradients, with the option changed."""
    trial = Trial(optimizer)
    if option:
        trial.multiply(option, FACTORS[option])
    generator = torch.Generator().manual_seed(seed)
    start = trial.values()
    torch.manual_seed(seed)
    with torch.enable_grad():
        for _ in range(steps):
            trial.step(draw_like(start, generator))
    return start, trial.values()
